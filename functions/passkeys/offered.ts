import type { Caller } from '../../runtime/context.ts'
import { ForeignPage } from '../../runtime/errors.ts'
import { type ErrorCode, fail, type Services } from '../services.ts'

/** The codes that `expectOffered` throws. */
export const OFFER_ERRORS = ['passkey_sign_in_off', 'origin_forbidden'] as const satisfies readonly ErrorCode[]

/**
 * Throws unless passkeys sign in here, and for a page of another origin, which must not sign its visitors in as another
 * user.
 */
export function expectOffered({ config, caller }: Pick<Services, 'config'> & { caller: Caller }): void {
  if (!config.passkeySignIn) throw fail('passkey_sign_in_off')
  if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
}
