import { addingPasskey, findPasskey } from '../../db/access/passkeys.ts'
import type { Database } from '../../db/libsql/database.ts'
import { saveUser } from '../../db/users.ts'
import { createChallenge } from '../../functions/factors/challenges.ts'
import { newPasskeyChallenge, passkeyHandle, verifyRegistration } from '../../functions/factors/passkeys.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { createAuthenticator } from '../authenticator.ts'

/** The address of the panel, by which passkeys know it. */
export const ORIGIN = 'https://panel.example'
const RP_ID = 'panel.example'
/** An account of the imitated host. */
const PERSON = 'guest'

/** Whole bodies of requests about passkeys, and the codes of links. */
export interface KnownPasskeys {
  newpasskey: string[]
  passkeysignin: string[]
  link: string[]
  linkuse: string[]
}

/**
 * Stores somebody with a passkey, and makes bodies with which each endpoint about passkeys succeeds: new passkeys of each
 * user, sign-ins, and links of the console. Nothing of it expires.
 */
export async function populatePasskeys(
  db: Database,
  secrets: Secrets,
  userIds: readonly number[],
  now: string,
): Promise<KnownPasskeys> {
  const services = { db, secrets, clock: () => new Date('2099-01-01T00:00:00.000Z') }
  const known: KnownPasskeys = { newpasskey: [], passkeysignin: [], link: [], linkuse: [] }
  const question = () => ({ challenge: newPasskeyChallenge(), rp_id: RP_ID, origins: [ORIGIN] })
  const created = (challenge: string, userId: number, by = createAuthenticator({ origin: ORIGIN, counts: false })) =>
    by.create({ challenge, rp: { id: RP_ID }, user: { id: passkeyHandle(services, userId) } })
  for (const userId of userIds)
    for (let n = 0; n < 4; n += 1) {
      const data = question()
      const challenge = await createChallenge(services, { userId, purpose: 'passkey', data })
      known.newpasskey.push(JSON.stringify({ challenge, name: `p${n}`, response: created(data.challenge, userId) }))
    }
  const { id: userId } = await saveUser(db, PERSON, false, now)
  const authenticator = createAuthenticator({ origin: ORIGIN, counts: false })
  const asked = question()
  const registered = await verifyRegistration(asked, created(asked.challenge, userId, authenticator))
  if (registered.flaw) throw new Error(`the passkey of the world is refused: ${registered.flaw}`)
  await db.batch(addingPasskey({ ...registered.passkey, user_id: userId, name: 'p' }, 10, now))
  if (!(await findPasskey(db, authenticator.id))) throw new Error('the passkey of the world is not stored')
  for (let n = 0; n < 12; n += 1) {
    const data = { question: question() }
    const challenge = await createChallenge(services, { userId: null, purpose: 'passkey_sign_in', data })
    const response = authenticator.get({ challenge: data.question.challenge, rpId: RP_ID })
    known.passkeysignin.push(JSON.stringify({ challenge, response }))
  }
  for (let n = 0; n < 8; n += 1) {
    const data = { challenge: newPasskeyChallenge() }
    const code = await createChallenge(services, { userId, purpose: 'console', data })
    // A request that uses a link up does not take those that are only looked at.
    if (n % 2) known.link.push(code)
    else known.linkuse.push(JSON.stringify({ code, name: `p${n}`, response: created(data.challenge, userId) }))
  }
  return known
}
