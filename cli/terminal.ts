import { StorageError } from '../db/libsql/database.ts'
import { ConfigError } from '../platform/config.ts'
import { escapeControlLines } from '../platform/escape-control.ts'
import { CommandError } from '../runtime/command.ts'
import { PromptClosed } from './prompt.ts'

/** Prints a text with its control characters escaped, because it may contain names from outside. */
export function print(text: string): void {
  process.stdout.write(escapeControlLines(text))
}

/** Prints a message on standard error and sets the exit code of the process. */
export function complain(code: number, message: string): void {
  process.stderr.write(escapeControlLines(`ops-panel : ${message}\n`))
  process.exitCode = code
}

/** Describes an error for people at a terminal, in French, without its stack; `what` names the failed action. */
export function explain(error: unknown, what: string): string {
  if (error instanceof ConfigError || error instanceof CommandError) return error.message
  if (error instanceof PromptClosed) return 'interrompu : rien n’a été enregistré.'
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return 'le port est déjà pris. Choisissez-en un autre avec PANEL_PORT.'
  if (code === 'EADDRNOTAVAIL') return 'PANEL_HOST n’est pas une adresse de cette machine.'
  if (code === 'EACCES' && error instanceof Error && 'syscall' in error && error.syscall === 'listen')
    return `ce port n’est pas permis à ce compte (${message}). Choisissez-en un autre avec PANEL_PORT.`
  if (code === 'EACCES') return `accès refusé (${message}). Lancez la commande en root, ou sous le compte du service.`
  if (code === 'ENOSPC') return `il n’y a plus de place sur le disque (${message}).`
  if (/SQLITE_(CORRUPT|NOTADB)/.test(message))
    return `la base de données est endommagée (${message}). « doctor » l’examine, « restore » remet une sauvegarde.`
  if (/SQLITE_FULL/.test(message)) return `il n’y a plus de place sur le disque (${message}).`
  if (code === 'EROFS') return `ce disque ne peut pas être écrit (${message}).`
  if (/SQLITE_BUSY/.test(message)) return `un autre programme tient la base de données verrouillée (${message}).`
  if (error instanceof StorageError)
    return `${what} : la base de données ne peut pas être utilisée (${rootOf(error).message}).`
  return `${what} : ${message}`
}

/** Returns the innermost cause: of a failed connection, Node's own error says only that it failed. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error
}
