import type { Output } from '../../runtime/channel.ts'
import { SshError } from '../../runtime/ssh-connection.ts'

/** The output of a command that ended with code 0; an SshError with the last line of its stderr otherwise. */
export function succeeded({ code, stdout, stderr }: Output): string {
  if (code === 0) return stdout
  const last = stderr.trimEnd().split('\n').at(-1)?.trim()
  throw new SshError('lost', last || `la commande s’est terminée avec le code ${code ?? '?'}`)
}
