import * as z from 'zod'
import { countingWithApiTokens, removingApiTokens } from '../../db/access/api-tokens.ts'
import { removingEveryFactor } from '../../db/access/factors.ts'
import { onlyIf } from '../../db/audit.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { addSession, type ProvenBy } from '../../db/sessions.ts'
import { findHostAccountByName, type HostAccount, saveUser } from '../../db/users.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { timestamp } from '../../platform/clock.ts'
import { EXAMPLE_TOKEN } from '../../runtime/function.ts'
import { ACCESS_SECONDS } from '../../sessions/sessions.ts'
import type { Context, ErrorCode, Services } from '../services.ts'
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

export const ENTRY_ACTIONS = ['login_failed', 'login_asked', 'login_success', 'account_ended'] as const

type Given = Context<undefined, (typeof ENTRY_ERRORS)[number], (typeof ENTRY_ACTIONS)[number]>

/** Anybody may make such attempts, and an entry of the audit log stays for ever. */
const NAMELESS_LIMIT = { limit: 100, seconds: 3_600, by: 'address' } as const

/** Says whether an attempt that names no account is to be audited: a hundred of a kind are in an hour, from all addresses together. */
export async function isNamelessTold({ limiter }: Pick<Given, 'limiter'>, kind: string): Promise<boolean> {
  return (await limiter.admit(kind, '', NAMELESS_LIMIT)) === 0
}

/** An account that may sign in, as it is stored. */
export interface Admitted {
  id: number
  username: string
  rights: Rights
}

/**
 * Stores the account that the host has just accepted. Sessions and API tokens of another account of this name end, and its
 * second factors are removed. Throws one of `ENTRY_ERRORS` for an account that may not sign in here.
 */
export async function admit(context: Given, { username, rights, learnt }: Entrant): Promise<Admitted> {
  const { db, clock, audit, fail } = context
  const before = await findHostAccountByName(db, username)
  const isBarred = before !== undefined && before.barred_at !== null
  if (isBarred || rights === 'uninvited' || rights === 'unconfirmed') {
    const reason = isBarred ? 'barred' : rights === 'unconfirmed' ? rights : 'uninvited'
    await audit('login_failed', { user: { id: before?.id ?? null, username }, details: { reason } })
    throw fail(REFUSALS[reason])
  }
  if (before && typeof before.uid === 'number' && typeof learnt.uid === 'number' && before.uid !== learnt.uid)
    await endReplaced(context, before)
  const { id } = await saveUser(db, username, rights.role === 'admin', timestamp(clock()), learnt)
  return { id, username, rights }
}

const REFUSALS = {
  barred: 'account_barred',
  uninvited: 'not_invited',
  unconfirmed: 'rights_unknown',
} as const

/** Ends whatever an earlier account of this name has left: sessions, second factors and API tokens. */
export async function endReplaced(
  {
    sessions,
    auditEntry,
  }: Pick<Services, 'sessions'> & { auditEntry(action: 'account_ended', note: AuditNote): Statement },
  before: Pick<HostAccount, 'id' | 'username'>,
  more: readonly Statement[] = [],
): Promise<void> {
  const note = { user: before, target: before.username, details: { reason: 'replaced' } }
  await sessions.endTokens({ userId: before.id }, () =>
    sessions.end({ userId: before.id }, (count) => [
      onlyIf(auditEntry('account_ended', note), countingWithApiTokens(count, before.id)),
      ...removingEveryFactor(before.id),
      removingApiTokens(before.id),
      ...more,
    ]),
  )
}

/**
 * Opens a session and sets its cookie. `more` is executed in the transaction that stores the session and its audit
 * entry. `enrolling` is for accounts that must first add a second factor. `provenAt` is when they proved who they are, if that
 * was before now.
 */
export async function openSession(
  context: Pick<Given, 'db' | 'sessions' | 'clock' | 'caller' | 'auditEntry' | 'header'>,
  { id, username, rights }: Admitted,
  {
    provenBy,
    provenAt,
    enrolling = false,
    more = [],
  }: { provenBy: ProvenBy; provenAt?: Date | undefined; enrolling?: boolean; more?: readonly Statement[] },
): Promise<z.infer<typeof SignedIn>> {
  const { db, sessions, clock, caller, auditEntry, header } = context
  const now = clock()
  const at = timestamp(now)
  const proven = provenAt && provenAt < now ? provenAt : now
  const { token, hash, expires } = await sessions.refreshToken(id)
  const told = await newAddressEvents(db, { user: { id, username }, address: caller.address, at })
  const session = {
    user_id: id,
    token_hash: hash,
    expires_at: timestamp(expires),
    user_agent: caller.userAgent,
    ip: caller.address,
    proven_at: timestamp(proven),
    proven_by: provenBy,
  }
  const details = provenBy === 'password' ? {} : { details: { by: provenBy } }
  const entry = auditEntry('login_success', { user: { id, username }, ...details })
  const sid = String(await addSession(db, session, at, [entry, ...told, ...more]))
  const bearer = { id, username, ...rights, sid, proven: proven.getTime() / 1000, enrolling }
  const access_token = await sessions.accessToken(bearer)
  header('set-cookie', refreshCookie(token, expires, caller))
  return { access_token, expires_in: ACCESS_SECONDS, user: { id, username, is_admin: rights.role === 'admin' } }
}
