import { type Command, script } from './command.ts'
import { WITHOUT_INPUT } from './identity-script.ts'

/**
 * How the service account gains an administrator's rights: it has them; by sudo for anything, without or with its
 * password; or by sudo for single commands that a rule names.
 */
export type Elevation = 'root' | 'sudo' | 'password' | 'rule'

/** `none`: as the account. `command`: as root. `script`: as root, unless a rule allows single commands only. */
export type Rights = 'none' | 'command' | 'script'

/** The command as it is run with these rights; where the mode is `password`, sudo reads that from the first line of stdin. */
export function elevate(command: Command, mode: Elevation, rights: Rights): Command {
  if (rights === 'none' || mode === 'root' || (mode === 'rule' && rights === 'script')) return command
  if (mode !== 'password') return ['sudo', '-n', '--', ...command]
  // The password reaches sudo on stdin alone: an argument would show in the host's list of processes. Where a rule lets
  // sudo not ask, it stays unread, and must not become the input of a program, inside a container perhaps.
  const unheard = rights === 'command' ? script(WITHOUT_INPUT, 'ops-panel-command', ...command) : command
  return ['sudo', '-k', '-S', '-p', '', '--', ...unheard]
}

/** The same for a command that runs as root in a terminal: sudo prints `prompt` when it waits for the password, or never. */
export function elevateInTerminal(command: Command, mode: Elevation, prompt: string): Command {
  if (mode === 'root') return command
  return mode === 'password' ? ['sudo', '-k', '-S', '-p', prompt, '--', ...command] : ['sudo', '-n', '--', ...command]
}
