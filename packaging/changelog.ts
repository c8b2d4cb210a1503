/**
 * CHANGELOG.md in the form of deb-changelog(5): each `## <version> (<day or anything>)` with its points. The newest section
 * is the version that is built, whatever it is called, and from the commit; an older one without a day is from a moment before.
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

/** Lines of at most 80 characters. */
function point(text: string): string {
  return text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(.{1,76})(?: |$)/g, '    $1\n')
    .trimEnd()
    .replace('    ', '  * ')
}
