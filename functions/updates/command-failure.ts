import type { Output } from '../../runtime/channel.ts'
import { SshError } from '../../runtime/ssh-connection.ts'

/** Of what a program says of its failure, which stands in a sentence. */
const MOST_WORDS = 1_000

/** The output of a command that ended with code 0; an SshError with the last line of its stderr otherwise. */
export function succeeded({ code, stdout, stderr }: Output): string {
  if (code === 0) return stdout
  const words = stderr.trimEnd()
  const last = words.slice(words.lastIndexOf('\n') + 1).trim()
  throw new SshError('lost', last.slice(0, MOST_WORDS) || `la commande s’est terminée avec le code ${code ?? '?'}`)
}
