import { type AuditEntry, addAuditEntry, auditEntry } from '../db/audit.ts'
import type { Statement } from '../db/client.ts'
import { timestamp } from './clock.ts'
import type { AuditNote, Services, User } from './context.ts'

/** Everything that the audit log can tell of. Names are stable: people search by them, and entries are kept for good. */
export const AUDIT_ACTIONS = [
  'login_rate_limited',
  'login_failed',
  'login_success',
  'proof_refused',
  'logout',
  'session_revoked',
  'sessions_ended',
  'account_ended',
  'rights_changed',
  'keys_rotated',
  'host_key_changed',
  'installed',
  'settings_changed',
  'update_start',
  'update_cancel',
  'check_start',
  'remedy_start',
  'container_start',
  'container_stop',
  'container_shutdown',
  'container_reboot',
  'terminal_open',
  'terminal_close',
  'module_installed',
  'module_enabled',
  'module_disabled',
  'module_removed',
  'module_taken_back',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who did something, and from where. */
export interface Actor {
  user: (Pick<User, 'username'> & { id: number | null }) | undefined
  address: string
}

/** Writes one entry: who, what, on what, from where. */
export function writeAudit(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  action: AuditAction,
  note: AuditNote = {},
): Promise<void> {
  return addAuditEntry(db, entryOf(actor, action, note), timestamp(clock()))
}

/** The same entry for a transaction, with what it tells of. */
export function auditStatement(
  { clock }: Pick<Services, 'clock'>,
  actor: Actor,
  action: AuditAction,
  note: AuditNote = {},
): Statement {
  return auditEntry(entryOf(actor, action, note), timestamp(clock()))
}

function entryOf({ user, address }: Actor, action: AuditAction, note: AuditNote): AuditEntry {
  const by = note.user ?? user
  return {
    action,
    user_id: by?.id ?? null,
    username: by?.username ?? null,
    target: note.target ?? null,
    ip: address,
    details: note.details ? JSON.stringify(note.details) : null,
  }
}

/** An account of this machine that types commands. */
export function atConsole(operator: string): Actor {
  return { user: { id: null, username: operator }, address: 'console' }
}
