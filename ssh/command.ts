import type { Failure } from '../runtime/errors.ts'
import { sshFailure } from './codes.ts'
import { WITHOUT_INPUT } from './identity-script.ts'

/** A program and its arguments. The arguments stay separate until `quote` renders them, and never become shell code. */
export type Command = readonly [program: string, ...arguments: string[]]

/**
 * Renders a command for the account’s shell. Each word is in single quotes, so that no character has a meaning.
 * Throws a RangeError for a NUL character, which no argument can contain.
 */
export function quote(command: Command): string {
  return command.map(word).join(' ')
}

function word(text: string): string {
  if (text.includes('\0')) throw new RangeError('an argument cannot contain a NUL character')
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A POSIX script with its positional arguments; `name` is its `$0`. */
export function script(text: string, name: string, ...args: string[]): Command {
  return ['sh', '-c', text, name, ...args]
}

/** The same command with a time limit: the host sends TERM after it, and then KILL. */
export function limited(command: Command, ms: number): Command {
  return ['timeout', '-k', '5', String(Math.ceil(ms / 1000)), ...command]
}

/**
 * The way in which the service account gets the rights of root. `root`: it is root. `sudo`: sudo allows everything,
 * without a password. `password`: the same with the account's password. `helper`: sudo allows only the host helper.
 * `rule`: sudo allows single commands.
 */
export type Elevation = 'root' | 'sudo' | 'password' | 'helper' | 'rule'

/** Path of the host helper: a program owned by root that performs a closed list of actions. */
export const HOST_HELPER = '/usr/sbin/ops-panel-host'

/** A verb of the host helper with its arguments. */
export type Verb = readonly [verb: string, ...args: string[]]

/** The command by which the account runs the host helper. */
export function helped(verb: Verb): Command {
  return ['sudo', '-n', '--', HOST_HELPER, ...verb]
}

/** `none`: as the account. `command`: as root. `script`: as root, unless sudo allows single commands only. */
export type Rights = 'none' | 'command' | 'script'

/**
 * Returns the command with these rights. With the mode `password`, sudo reads the password from the first line of
 * stdin. With the mode `helper`, `verb` replaces the command; without a verb, the host helper cannot do the work and
 * a Failure is thrown.
 */
export function elevate(command: Command, mode: Elevation, rights: Rights, verb?: Verb): Command {
  if (rights === 'none' || mode === 'root') return command
  if ((mode === 'rule' || mode === 'helper') && rights === 'script') return command
  if (mode === 'helper') {
    if (!verb) throw lacking(`exécuter ${command[0]}`)
    return helped(verb)
  }
  if (mode !== 'password') return ['sudo', '-n', '--', ...command]
  // sudo reads the password from stdin, because an argument would appear in the host’s process list. If sudo needs no
  // password, the line with it stays unread: `WITHOUT_INPUT` keeps it from the command, which may run in a container.
  const inner = rights === 'command' ? script(WITHOUT_INPUT, 'ops-panel-command', ...command) : command
  return ['sudo', '-k', '-S', '-p', '', '--', ...inner]
}

/**
 * Returns a command that runs as root in a terminal; sudo writes `prompt` if it waits for the password. The host
 * helper opens no terminal: a user who types there could run anything.
 */
export function elevateInTerminal(command: Command, mode: Elevation, prompt: string): Command {
  if (mode === 'root') return command
  if (mode === 'helper') throw lacking('ouvrir un terminal dans un conteneur')
  return mode === 'password' ? ['sudo', '-k', '-S', '-p', prompt, '--', ...command] : ['sudo', '-n', '--', ...command]
}

function lacking(what: string): Failure {
  return sshFailure('host_helper_lacks', { values: { what } })
}
