import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { addSession, type ProvenBy } from '../../db/sessions.ts'
import { findHostAccountByName, saveUser } from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { EXAMPLE_TOKEN } from '../../runtime/function.ts'
import { ACCESS_SECONDS } from '../../sessions/sessions.ts'
import type { Context, ErrorCode } from '../services.ts'
import { refreshCookie } from './cookie.ts'
import type { Entrant, Rights } from './host-account.ts'
import { newAddressEvents } from './new-address.ts'

/** The answer to a completed sign-in, in whichever step it was completed. */
export const SignedIn = z.object({
  access_token: z.string(),
  expires_in: z.literal(ACCESS_SECONDS),
  user: z.object({ id: z.int(), username: z.string(), is_admin: z.boolean() }),
})

export const SIGNED_IN_EXAMPLE = {
  access_token: EXAMPLE_TOKEN,
  expires_in: ACCESS_SECONDS,
  user: { id: 1, username: 'alice', is_admin: true },
} as const

/** The codes that `admit` throws. */
export const ENTRY_ERRORS = ['not_invited', 'rights_unknown', 'account_barred'] as const satisfies readonly ErrorCode[]

export const ENTRY_ACTIONS = ['login_failed', 'login_success', 'account_ended'] as const

type Given = Context<undefined, (typeof ENTRY_ERRORS)[number], (typeof ENTRY_ACTIONS)[number]>

/** An account that may sign in, as it is stored. */
export interface Admitted {
  id: number
  username: string
  rights: Rights
}

/**
 * Stores the account that the host has just accepted. Sessions of another account of this name end. Throws one of
 * `ENTRY_ERRORS` for an account that may not sign in here.
 */
export async function admit(context: Given, { username, rights, learnt }: Entrant): Promise<Admitted> {
  const { db, sessions, clock, audit, auditEntry, fail } = context
  const before = await findHostAccountByName(db, username)
  const isBarred = before !== undefined && before.barred_at !== null
  if (isBarred || rights === 'uninvited' || rights === 'unconfirmed') {
    const reason = isBarred ? 'barred' : rights === 'unconfirmed' ? rights : 'uninvited'
    await audit('login_failed', { user: { id: before?.id ?? null, username }, details: { reason } })
    throw fail(REFUSALS[reason])
  }
  if (before && typeof before.uid === 'number' && typeof learnt.uid === 'number' && before.uid !== learnt.uid) {
    const note = { user: before, target: username, details: { reason: 'replaced' } }
    await sessions.end({ userId: before.id }, (count) => onlyIf(auditEntry('account_ended', note), count))
  }
  const { id } = await saveUser(db, username, rights.role === 'admin', timestamp(clock()), learnt)
  return { id, username, rights }
}

const REFUSALS = {
  barred: 'account_barred',
  uninvited: 'not_invited',
  unconfirmed: 'rights_unknown',
} as const

/**
 * Opens a session and sets its cookie. `more` is executed in the transaction that stores the session and its audit
 * entry. `enrolling` is for accounts that must first add a second factor.
 */
export async function openSession(
  context: Given & { header(name: string, value: string): void },
  { id, username, rights }: Admitted,
  { provenBy, enrolling = false, more = [] }: { provenBy: ProvenBy; enrolling?: boolean; more?: readonly Statement[] },
): Promise<z.infer<typeof SignedIn>> {
  const { db, sessions, clock, caller, auditEntry, header } = context
  const now = clock()
  const at = timestamp(now)
  const { token, hash, expires } = await sessions.refreshToken(id)
  const told = await newAddressEvents(db, { user: { id, username }, address: caller.address, at })
  const session = {
    user_id: id,
    token_hash: hash,
    expires_at: timestamp(expires),
    user_agent: caller.userAgent,
    ip: caller.address,
    proven_by: provenBy,
  }
  const details = provenBy === 'password' ? {} : { details: { by: provenBy } }
  const entry = auditEntry('login_success', { user: { id, username }, ...details })
  const sid = String(await addSession(db, session, at, [entry, ...told, ...more]))
  const proven = now.getTime() / 1000
  const access_token = await sessions.accessToken({ id, username, ...rights, sid, proven, enrolling })
  header('set-cookie', refreshCookie(token, expires, caller))
  return { access_token, expires_in: ACCESS_SECONDS, user: { id, username, is_admin: rights.role === 'admin' } }
}
