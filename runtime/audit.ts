import { addAuditEntry } from '../db/audit.ts'
import { timestamp } from './clock.ts'
import type { AuditNote, Caller, Services, User } from './context.ts'
import type { AuditAction } from './function.ts'

/** Writes one entry: who, what, on what, from where. */
export function writeAudit(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Pick<Caller, 'address'>,
  user: Pick<User, 'id' | 'username'> | undefined,
  action: AuditAction,
  note: AuditNote = {},
): Promise<void> {
  const by = note.user ?? user
  const entry = {
    action,
    user_id: by?.id ?? null,
    username: by?.username ?? null,
    target: note.target ?? null,
    ip: caller.address,
    details: note.details ? JSON.stringify(note.details) : null,
  }
  return addAuditEntry(db, entry, timestamp(clock()))
}
