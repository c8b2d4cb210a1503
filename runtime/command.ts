/** A program and its arguments. Arguments stay apart until `quote` renders them: none is ever joined into a shell text. */
export type Command = readonly [program: string, ...arguments: string[]]

/**
 * Renders a command for the account's shell: each word in single quotes, so that no character in it has a meaning.
 * Throws a RangeError for a NUL character, which no argument of a program can carry.
 */
export function quote(command: Command): string {
  return command.map(word).join(' ')
}

function word(text: string): string {
  if (text.includes('\0')) throw new RangeError('an argument cannot contain a NUL character')
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A POSIX script with its positional arguments; `name` is what the script sees as `$0`. */
export function script(text: string, name: string, ...args: string[]): Command {
  return ['sh', '-c', text, name, ...args]
}

/** The same, ended by the host when it has run for so long: by TERM, then by KILL. */
export function limited(command: Command, ms: number): Command {
  return ['timeout', '-k', '5', String(Math.ceil(ms / 1000)), ...command]
}
