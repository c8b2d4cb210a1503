import { addAuditEntry, type AuditEntry, auditEntry } from '../db/audit.ts'
import type { Statement } from '../db/libsql/database.ts'
import { timestamp } from '../platform/clock.ts'
import type { AuditNote, RuntimeServices, User } from './context.ts'

/** The user who acted, and the address. */
export interface Actor {
  user: (Pick<User, 'username'> & Partial<Pick<User, 'credential' | 'sid'>> & { id: number | null }) | undefined
  address: string
}

/** Writes one audit entry. */
export function writeAudit(
  { db, clock }: Pick<RuntimeServices, 'db' | 'clock'>,
  actor: Actor,
  action: string,
  note: AuditNote = {},
): Promise<void> {
  return addAuditEntry(db, entryOf(actor, action, note), timestamp(clock()))
}

/** The type of `auditStatement` for the actions of one room, or for all actions of the service. */
export type AuditStatement<actions extends string> = (
  services: Pick<RuntimeServices, 'clock'>,
  actor: Actor,
  action: actions,
  note?: AuditNote,
) => Statement

/** Returns the entry as a statement, for the same transaction as the action it records. */
export function auditStatement(
  { clock }: Pick<RuntimeServices, 'clock'>,
  actor: Actor,
  action: string,
  note: AuditNote = {},
): Statement {
  return auditEntry(entryOf(actor, action, note), timestamp(clock()))
}

function entryOf({ user, address }: Actor, action: string, note: AuditNote): AuditEntry {
  const by = note.user ?? user
  // An entry of an API token says which one of its owner's it was: `token:3`.
  const details = user?.credential === 'token' ? { ...note.details, credential: user.sid } : note.details
  return {
    action,
    user_id: by?.id ?? null,
    username: by?.username ?? null,
    target: note.target ?? null,
    ip: address,
    details: details ? JSON.stringify(details) : null,
  }
}

/** The actor for commands: an operating system account of this machine. */
export function atConsole(operator: string): Actor {
  return { user: { id: null, username: operator }, address: 'console' }
}
