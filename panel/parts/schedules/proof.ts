import { ApiError } from '../../../client/index.ts'
import { askProof } from '../dialog.tsx'
import { scheduleWords } from './words.ts'

/**
 * Sends a change of a schedule. A schedule that may restart the host needs the user's own password when that is new, or when its owner
 * changes. The service says so: a host that takes keys only asks for a factor instead, in place. False when the user declines.
 */
export async function withProof(send: (proof: { password?: string }) => Promise<unknown>): Promise<boolean> {
  try {
    await send({})
    return true
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'proof_required') throw error
  }
  const password = await askProof({ ...scheduleWords().edition.proof, danger: true })
  if (password === undefined) return false
  await send({ password })
  return true
}
