const QUOTED = String.raw`'[^']*'|"(?:\\[\s\S]|[^"\\])*"`
const PLAIN = String.raw`(?:\\[\s\S]|[^\\\n])*`
/** A comment, an assignment (what is quoted may go over lines), or a line that is neither. */
const LINE = new RegExp(
  String.raw`[ \t\r]*(?:[#;].*|([A-Za-z_]\w*)[ \t]*=((?:[ \t]*(?:${QUOTED}))*)(${PLAIN})|.*)(?:\n|$)`,
  'y',
)

/**
 * The variables that a file for systemd's `EnvironmentFile=` sets, read as systemd.exec(5) reads it, which is neither a shell
 * nor the `.env` of others: a `#` inside a value and what follows a `$` are part of it.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  LINE.lastIndex = 0
  while (LINE.lastIndex < text.length) {
    const [, name, quoted = '', plain = ''] = LINE.exec(text) ?? []
    if (name !== undefined) variables[name] = unquote(quoted) + unescaped(plain)
  }
  return variables
}

function unquote(quoted: string): string {
  return [...quoted.matchAll(new RegExp(QUOTED, 'g'))]
    .map(([part]) => {
      const inner = part.slice(1, -1)
      if (part.startsWith("'")) return inner
      // A backslash means something before few characters, and stands for itself before the others.
      return inner.replace(/\\([\s\S])/g, (both, one: string) => (one === '\n' ? '' : /["\\`$]/.test(one) ? one : both))
    })
    .join('')
}

/** White space at the ends counts only where it is escaped. */
function unescaped(plain: string): string {
  const kept = /^\s*((?:\\[\s\S]|\S|\s+(?=\S))*)/.exec(plain)?.[1] ?? ''
  return kept.replace(/\\([\s\S])/g, (_, one: string) => (one === '\n' ? '' : one))
}
