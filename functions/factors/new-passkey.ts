import { addingPasskey, findPasskey } from '../../db/access/passkeys.ts'
import type { Statement } from '../../db/libsql/database.ts'
import type { User } from '../../runtime/context.ts'
import type { Context, ErrorCode } from '../services.ts'
import { MOST_FACTORS } from './enrolment.ts'
import type { Registration } from './passkey-shapes.ts'
import { type PasskeyQuestion, verifyRegistration } from './passkeys.ts'

/** The codes that `newPasskey` throws. */
export const PASSKEY_ERRORS = ['passkey_invalid', 'passkey_known'] as const satisfies readonly ErrorCode[]

type Given = Context<undefined, (typeof PASSKEY_ERRORS)[number], 'factor_refused'>

/**
 * Checks a browser's answer to creation options. Returns the statements that store the passkey of `user`. A refused one is
 * audited as `factor_refused`, with its reason.
 */
export async function newPasskey(
  { db, audit, fail }: Pick<Given, 'db' | 'audit' | 'fail'>,
  question: PasskeyQuestion,
  {
    user,
    name,
    created_at,
    response,
  }: { user: Pick<User, 'id' | 'username'>; name: string; created_at: string; response: Registration },
): Promise<Statement[]> {
  const refused = (reason: string) =>
    audit('factor_refused', { user, target: user.username, details: { kind: 'passkey', name, reason } })
  const registered = await verifyRegistration(question, response)
  if (registered.flaw) {
    await refused(registered.flaw)
    throw fail('passkey_invalid', { cause: new Error(`refused passkey: ${registered.flaw}`) })
  }
  if (await findPasskey(db, registered.passkey.credential_id)) {
    await refused('known')
    throw fail('passkey_known')
  }
  return addingPasskey({ ...registered.passkey, user_id: user.id, name }, MOST_FACTORS, created_at)
}
