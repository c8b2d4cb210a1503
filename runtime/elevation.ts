import { type Command, script } from './command.ts'
import { Failure } from './errors.ts'
import { WITHOUT_INPUT } from './identity-script.ts'

/**
 * How the service account gains an administrator's rights: it has them; by sudo for anything, without or with its
 * password; by sudo for the host's helper alone; or by sudo for single commands that a rule names.
 */
export type Elevation = 'root' | 'sudo' | 'password' | 'helper' | 'rule'

/** Where the helper lies on the host: root's own program, which does a closed list of things and nothing else. */
export const HOST_HELPER = '/usr/sbin/ops-panel-host'

/** What the helper is asked to do, with its arguments. */
export type Verb = readonly [verb: string, ...args: string[]]

/** The helper as the account runs it. */
export function helped(verb: Verb): Command {
  return ['sudo', '-n', '--', HOST_HELPER, ...verb]
}

/** `none`: as the account. `command`: as root. `script`: as root, unless sudo allows single commands only. */
export type Rights = 'none' | 'command' | 'script'

/**
 * The command as it is run with these rights; where the mode is `password`, sudo reads that from the first line of stdin.
 * `verb` is what the helper is asked for in its place: without one, the helper has nothing like it, and a Failure says so.
 */
export function elevate(command: Command, mode: Elevation, rights: Rights, verb?: Verb): Command {
  if (rights === 'none' || mode === 'root') return command
  if ((mode === 'rule' || mode === 'helper') && rights === 'script') return command
  if (mode === 'helper') {
    if (!verb) throw lacking(`exécuter ${command[0]}`)
    return helped(verb)
  }
  if (mode !== 'password') return ['sudo', '-n', '--', ...command]
  // The password reaches sudo on stdin alone: an argument would show in the host's list of processes. Where a rule lets
  // sudo not ask, it stays unread, and must not become the input of a program, inside a container perhaps.
  const unheard = rights === 'command' ? script(WITHOUT_INPUT, 'ops-panel-command', ...command) : command
  return ['sudo', '-k', '-S', '-p', '', '--', ...unheard]
}

/**
 * The same for a command that runs as root in a terminal: sudo prints `prompt` when it waits for the password, or never.
 * The helper opens none: whoever types there could do anything.
 */
export function elevateInTerminal(command: Command, mode: Elevation, prompt: string): Command {
  if (mode === 'root') return command
  if (mode === 'helper') throw lacking('ouvrir un terminal dans un conteneur')
  return mode === 'password' ? ['sudo', '-k', '-S', '-p', prompt, '--', ...command] : ['sudo', '-n', '--', ...command]
}

function lacking(what: string): Failure {
  return new Failure('host_helper_lacks', { values: { what } })
}
