/*
 * Challenges: what the service has asked, until it is answered. A challenge belongs to a purpose, and to a user or to
 * nobody yet; it takes five answers, and is used once, in the transaction of what it allows. The client holds the id of a
 * user's, the database its hash. A challenge of nobody is sealed and with the client alone until its first answer:
 * anybody may ask for as many as they like, and they push none of others out.
 */
import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import {
  addChallenge,
  countAnswer,
  countAnswerOfNobody,
  findOpenChallenge,
  isOver,
  takesAnswers,
  usingChallenge,
  usingChallengeOfNobody,
} from '../../db/access/challenges.ts'
import { isLostClaim } from '../../db/access/claims.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import { SecretError } from '../../platform/secrets.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { fail, type Services } from '../services.ts'

/** The use of a challenge. One for another purpose is never accepted. */
export type Purpose = 'oidc' | 'sign_in' | 'passkey_sign_in' | 'step_up' | 'totp' | 'passkey' | 'console'

/** How long a challenge of each purpose is valid. */
export const CHALLENGE_SECONDS: Readonly<Record<Purpose, number>> = {
  oidc: 600,
  sign_in: 300,
  passkey_sign_in: 300,
  step_up: 300,
  totp: 600,
  passkey: 600,
  console: 1_800,
}

const ABOUT = {
  description: 'The challenge that is answered.',
  examples: ['0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM'],
}
/** Characters of the id of a stored challenge at most; it has 43. */
export const MOST_OF_ID = 64

/** The id of a stored challenge, as a client gives it. */
export const ChallengeId = z.string().min(1).max(MOST_OF_ID).meta(ABOUT)

/** A challenge of nobody, which is not stored: its id is its sealed content. */
export const SealedChallenge = z.string().min(1).max(8_192).meta(ABOUT)

type Given = Pick<Services, 'db' | 'secrets' | 'clock'>

/** An open challenge: its hash, its user, and what the service has noted for the answer. */
export interface Challenge<data> {
  hash: string
  userId: number | null
  data: data
  /** The part of a challenge of nobody that its first answer stores. */
  sealed?: { purpose: Purpose; expires: string } | undefined
}

/** The content of a challenge of nobody; `nonce` is what makes it another one. */
const Sealed = z.object({ nonce: z.string(), expires: z.string(), data: z.unknown() })

/**
 * Makes a challenge with what its answer needs, and returns the id for the client. One of a user is stored, its data
 * sealed, and `more` is executed with it.
 */
export async function createChallenge(
  { db, secrets, clock }: Given,
  { userId, purpose, data }: { userId: number | null; purpose: Purpose; data: unknown },
  more: readonly Statement[] = [],
): Promise<string> {
  const id = randomBytes(32).toString('base64url')
  const hash = hashOf(id)
  const now = clock()
  const expires = timestamp(new Date(now.getTime() + CHALLENGE_SECONDS[purpose] * 1000))
  if (userId === null) return secrets.seal(sealedAs(purpose), JSON.stringify({ nonce: id, expires, data }))
  const data_sealed = secrets.seal(sealedAs(hash), JSON.stringify(data))
  await addChallenge(db, { hash, user_id: userId, purpose, data_sealed }, { now: timestamp(now), expires }, more)
  return id
}

/**
 * Returns an open challenge. `userId` is the caller's, or `any` where the challenge itself tells who answers. Throws
 * `challenge_over` for one that is unknown, expired, used, or of another user or purpose.
 */
export async function findChallenge<data>(
  { db, secrets, clock }: Given,
  { id, purpose, userId }: { id: string; purpose: Purpose; userId: number | null | 'any' },
  shape: z.ZodType<data>,
): Promise<Challenge<data>> {
  if (userId === null) {
    const { nonce, expires, data } = Sealed.parse(parseJson(opened(secrets, purpose, id)))
    // By the nonce, because one sealed text can be spelt in several ways.
    const hash = hashOf(nonce)
    if (expires <= timestamp(clock()) || (await isOver(db, hash))) throw fail('challenge_over')
    return { hash, userId, data: shape.parse(data), sealed: { purpose, expires } }
  }
  const row = await findOpenChallenge(db, { hash: hashOf(id), purpose }, timestamp(clock()))
  if (!row || (userId !== 'any' && row.user_id !== userId)) throw fail('challenge_over')
  const data = shape.parse(parseJson(secrets.open(sealedAs(row.hash), row.data_sealed)))
  return { hash: row.hash, userId: row.user_id, data }
}

/**
 * Counts an answer, to be called before it is checked: five at the same time are five guesses. Throws `challenge_over`
 * when the challenge takes none any more.
 */
export async function countChallengeAnswer({ db, clock }: Given, { hash, sealed }: Challenge<unknown>): Promise<void> {
  const now = timestamp(clock())
  const counted = sealed ? countAnswerOfNobody(db, { hash, ...sealed }, now) : countAnswer(db, hash, now)
  if (!(await counted)) throw fail('challenge_over')
}

/** The failure after a wrong answer: `factor_wrong`, or `challenge_over` when that was the last one that it takes. */
export async function wrongAnswer({ db, clock }: Given, { hash }: Challenge<unknown>) {
  return fail((await takesAnswers(db, hash, timestamp(clock()))) ? 'factor_wrong' : 'challenge_over')
}

/**
 * Makes the statements that use up a challenge whose answer was counted, for the transaction of what it allows. That one is rolled back when
 * the challenge is already used; `onceOnly` then throws `challenge_over`.
 */
export function useChallenge({ clock }: Given, { hash, sealed }: Challenge<unknown>): Statement[] {
  return (sealed ? usingChallengeOfNobody : usingChallenge)(hash, timestamp(clock()))
}

/** Awaits a transaction that uses something up. Throws `challenge_over` when another one was faster. */
export function onceOnly<result>(transaction: Promise<result>): Promise<result> {
  return transaction.catch((error: unknown) => {
    throw isLostClaim(error) ? fail('challenge_over', { cause: error }) : error
  })
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}

function sealedAs(what: string): string {
  return `challenge ${what}`
}

function opened(secrets: Given['secrets'], purpose: Purpose, id: string): string {
  try {
    return secrets.open(sealedAs(purpose), id)
  } catch (error) {
    throw error instanceof SecretError ? fail('challenge_over', { cause: error }) : error
  }
}
