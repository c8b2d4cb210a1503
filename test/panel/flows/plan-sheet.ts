import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage, signIn } from '../browser.ts'
import { CHANGES, planning, REMOVAL } from './plan-states.ts'
import { answered, ready } from './update-states.ts'

const WAIT = { timeout: 20_000, interval: 50 }
/** The job that the answers name does not exist, and plans are refused. */
const EXPECTED = { expected: /status of (404|409|410|422|502)/ }

const KEPT_BACK = REMOVAL.map((one) => ({ ...one, status: 'kept_back' as const, reason: 'kept_back_remove' as const }))
/** A container with something to install. */
export const WEB = ready('lxc:101', 'web')

/** The updates page with one container, and what it asks for. */
export async function sheetOf(options: Partial<{ check: typeof WEB; changes: typeof CHANGES; locale: string }> = {}) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates`, { ...EXPECTED, locale: options.locale ?? 'fr-FR' })
  const changes = options.changes ?? CHANGES
  const checks = await answered(page, [options.check ?? WEB], [...changes, ...KEPT_BACK])
  const plans = await planning(page, { changes })
  await signIn(page)
  const review = page.getByRole('button', { name: /^(Examiner la mise à jour de web|Review the upgrade of web)/ })
  await review.waitFor(WAIT)
  return { page, review, checks, plans, sheet: page.locator('dialog.drawer') }
}
