import { addingPasskey, findPasskey } from '../../db/access/passkeys.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import { type ErrorCode, fail, type Services } from '../services.ts'
import { MOST_FACTORS } from './enrolment.ts'
import type { Registration } from './passkey-shapes.ts'
import { type PasskeyQuestion, verifyRegistration } from './passkeys.ts'

/** The codes that `newPasskey` throws. */
export const PASSKEY_ERRORS = ['passkey_invalid', 'passkey_known'] as const satisfies readonly ErrorCode[]

/** Checks a browser's answer to creation options. Returns the statements that store the passkey. */
export async function newPasskey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  question: PasskeyQuestion,
  { userId, name, response }: { userId: number; name: string; response: Registration },
): Promise<Statement[]> {
  const registered = await verifyRegistration(question, response)
  if (registered.flaw) throw fail('passkey_invalid', { cause: new Error(`refused passkey: ${registered.flaw}`) })
  if (await findPasskey(db, registered.passkey.credential_id)) throw fail('passkey_known')
  return addingPasskey({ ...registered.passkey, user_id: userId, name }, MOST_FACTORS, timestamp(clock()))
}
