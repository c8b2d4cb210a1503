import { StorageError } from '../db/libsql/database.ts'
import { ConfigError } from '../platform/config.ts'
import { escapeControlLines } from '../platform/escape-control.ts'
import { CommandError } from '../runtime/command.ts'
import { PromptClosed } from './prompt.ts'

/** Prints a text, of which a terminal obeys nothing: it may have names of others in it. */
export function print(text: string): void {
  process.stdout.write(escapeControlLines(text))
}

/** Tells what went wrong, and what the process is to end with. */
export function complain(code: number, message: string): void {
  process.stderr.write(escapeControlLines(`ops-panel : ${message}\n`))
  process.exitCode = code
}

/** What a person at a terminal is told of an error, after `what` failed; the stack is of use to nobody there. */
export function explain(error: unknown, what: string): string {
  if (error instanceof ConfigError || error instanceof CommandError) return error.message
  if (error instanceof PromptClosed) return 'interrompu : rien n’a été enregistré.'
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return 'le port est déjà pris. Choisissez-en un autre avec PANEL_PORT.'
  if (code === 'EADDRNOTAVAIL') return 'PANEL_HOST n’est pas une adresse de cette machine.'
  if (code === 'EACCES') return `accès refusé (${message}).`
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

/** Node says of a connection that failed only that it did; what it was is the cause of the cause. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error
}
