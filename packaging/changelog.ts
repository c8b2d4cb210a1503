/**
 * Converts CHANGELOG.md, with its sections `## <version> (<day or other text>)`, to the format of deb-changelog(5).
 * The newest section gets the version and the time of this build, whatever its heading says. An older section without
 * a day is dated a few seconds earlier.
 */
export function debianChangelog(
  markdown: string,
  { version, seconds, maintainer }: { version: string; seconds: number; maintainer: string },
): string {
  const sections = markdown.split(/^## /m).slice(1)
  if (sections.length === 0) throw new Error('CHANGELOG.md has no section')
  return sections
    .map((section, at) => {
      const [heading = '', ...lines] = section.trimEnd().split('\n')
      const day = /\d{4}-\d\d-\d\d/.exec(heading)?.[0]
      const date = at === 0 || day === undefined ? new Date((seconds - at) * 1000) : new Date(`${day}T00:00:00Z`)
      const points = lines.join('\n').trim().split(/^- /m).slice(1).map(point)
      const name = at === 0 ? version : heading.split(' ')[0]
      return [
        `ops-panel (${name}) unstable; urgency=medium\n`,
        ...points,
        `\n -- ${maintainer}  ${date.toUTCString().replace('GMT', '+0000')}\n`,
      ].join('\n')
    })
    .join('\n')
}

/** Formats a point in lines of at most 80 characters. */
function point(text: string): string {
  return text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(.{1,76})(?: |$)/g, '    $1\n')
    .trimEnd()
    .replace('    ', '  * ')
}
