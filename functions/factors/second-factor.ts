import { countRecoveryCodes, listFactors } from '../../db/access/factors.ts'
import type { Caller, Role } from '../../runtime/context.ts'
import type { Services } from '../services.ts'
import { createChallenge, type Purpose } from './challenges.ts'
import type { FactorKind } from './codes.ts'
import type { RequestOptions } from './passkey-shapes.ts'
import { requestOptions } from './passkeys.ts'

/** Whether an account of this role must have a second factor. */
export function isFactorRequired({ requireFactor }: Services['config'], role: Role): boolean {
  return requireFactor === 'all' || (requireFactor === 'admins' && role === 'admin')
}

/** Whether an account of this role must have a second factor and has none. */
export async function mustEnrol({ db, config }: Pick<Services, 'db' | 'config'>, userId: number, role: Role) {
  return isFactorRequired(config, role) && (await listFactors(db, userId)).length === 0
}

/** The question to a client, for its answer with a second factor: `factor_required` and `factor_proof_required` tell it. */
type AskedFactor = {
  challenge: string
  factors: FactorKind[]
  passkey?: RequestOptions
}

/**
 * Asks a user's second factor, and stores a challenge with `data`. Undefined for a user who has enrolled none. A passkey is
 * not offered where it was made for another name of the panel; the user must then answer otherwise, and is still asked.
 */
export async function askFactor(
  services: Services & { caller: Caller },
  { userId, purpose, data }: { userId: number; purpose: Extract<Purpose, 'sign_in' | 'step_up'>; data: object },
): Promise<AskedFactor | undefined> {
  const { db, caller } = services
  const enrolled = await listFactors(db, userId)
  if (enrolled.length === 0) return undefined
  const passkey = await requestOptions(services, caller, { id: userId })
  const hasCodes = (await countRecoveryCodes(db, userId)) > 0
  const factors: FactorKind[] = [
    ...(enrolled.some(({ kind }) => kind === 'totp') ? (['totp'] as const) : []),
    ...(passkey ? (['passkey'] as const) : []),
    ...(hasCodes ? (['recovery'] as const) : []),
  ]
  const challenge = await createChallenge(services, {
    userId,
    purpose,
    data: { ...data, ...(passkey && { question: passkey.question }) },
  })
  return { challenge, factors, ...(passkey && { passkey: passkey.options }) }
}
