/*
 * One-time links of the console, for people who cannot sign in by a password: whoever has the link registers a passkey
 * for the account that it was made for.
 */
import * as z from 'zod'
import { findHostAccount, type HostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { type Challenge, findChallenge, MOST_OF_ID } from '../factors/challenges.ts'
import { type ErrorCode, fail, type Services } from '../services.ts'
import { type Account, isAccountName, refusesCommands, SshError } from '../../ssh/ssh.ts'

/** The code of a link, in its fragment, so that no server and no proxy writes it down. */
export const LinkCode = z.string().min(1).max(MOST_OF_ID).meta({ description: 'The code of the link.' })

/** The data of a link: the challenge of the passkey that it allows. */
const Link = z.object({ challenge: z.string() })

export const LINK_ERRORS = [
  'challenge_over',
  'passkeys_need_name',
  'host_account_missing',
  'host_silent',
  'account_barred',
] as const satisfies readonly ErrorCode[]

/** An open link with its account, as the host knows it now. */
export interface OpenLink {
  challenge: Challenge<z.infer<typeof Link>>
  account: HostAccount
  uid: number
  shadow_counts: boolean
}

/**
 * Returns an open link. The service account asks the host for the account each time: a link is no account, and an account
 * without commands, or which has expired, gets no passkey. Throws one of `LINK_ERRORS`.
 */
export async function openLink(services: Services, code: string): Promise<OpenLink> {
  const challenge = await findChallenge(services, { id: code, purpose: 'console', userId: 'any' }, Link)
  const account = challenge.userId === null ? undefined : await findHostAccount(services.db, challenge.userId)
  if (!account) throw fail('challenge_over')
  if (account.barred_at !== null) throw fail('account_barred')
  const { username } = account
  if (!isAccountName(username)) throw fail('host_account_missing')
  const seen = await services.host.inspect(username).catch((error: unknown) => {
    throw error instanceof SshError || error instanceof Failure ? fail('host_silent', { cause: error }) : error
  })
  if (seen === 'gone' || seen.name !== username || !isUsable(seen)) throw fail('host_account_missing')
  // Where people work with keys, accounts have no password: an entry of shadow(5) without one locks nobody out.
  return { challenge, account, uid: seen.uid, shadow_counts: seen.localPassword !== false }
}

/** Whether an account of the host can run commands, neither expired nor with a password that must be changed first. */
export function isUsable(account: Account): boolean {
  return !refusesCommands(account) && account.overdue === undefined
}
