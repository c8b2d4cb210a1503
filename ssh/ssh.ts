/*
 * The managed host over SSH: runs commands, streams and terminals as the service account, checks logins and looks up
 * accounts. Connections and channels are bounded, a changed host key is refused, and passwords never appear in an
 * argument or a log line. Every failure is an SshError or a Failure of the settings. The room must not know jobs,
 * containers, HTTP or the database.
 */

export {
  AnswerTooLong,
  commandFailure,
  type ExecOptions,
  type HostStream,
  type RunOptions,
  type Output,
  readLines,
  succeeded,
} from './channel.ts'
export { SSH_ERRORS } from './codes.ts'
export { type Command, type Elevation, helped, HOST_HELPER, quote, type Rights, script, type Verb } from './command.ts'
export { readHostKey, SshError } from './connection.ts'
export { createHost, type Host } from './host.ts'
export type { Checked } from './login-check.ts'
export type { Prompt } from './login/prompts.ts'
export { isRoots } from './identity-script.ts'
export { acceptedKeys, MOST_KEYS } from './key-probe.ts'
export { authorizedLine, KEY_OPTIONS, newSshKey, readSshKey, type SshKey } from './key.ts'
export { type Account, type Claim, type Identity, isAccountName, refusesCommands } from './identity.ts'
export {
  createSshSettings,
  SSH_SETTINGS,
  type SshAccount,
  SshHost,
  SshHostKey,
  SshPassword,
  type SshSettings,
  SshUsername,
} from './settings.ts'
export type { HostTerminal, TerminalOptions } from './terminal.ts'
