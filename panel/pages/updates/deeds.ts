import type { Check, Finding } from '../../nouns/checked.ts'
import type { RowAction } from '../../nouns/target-list.ts'
import { useAct } from '../../parts/action.tsx'
import { startCheck } from '../../wire/checks.ts'
import { hostAway } from '../../wire/host.ts'
import { startUpgrade } from '../../wire/jobs.ts'
import { isAdmin } from '../../wire/panel.ts'
import { startRemedy } from '../../wire/remedies.ts'
import { words } from '../../words/words.ts'
import { confirmRelease, confirmReview } from './questions.tsx'

/** The actions that a row, its details and the list of held packages can start. */
export interface Deeds {
  /** The reason why nothing can start now. */
  blocked: string | undefined
  /** Shows the output of a job. */
  show(job: string): void
  does(check: Check, action: Exclude<RowAction, 'show'>): void
  /** Carries out the remedy of a finding; `packages` limits it to these. */
  remedy(check: Check, finding: Finding, packages?: readonly string[]): void
  /** The error of the last start. */
  error: unknown
}

/** The actions of the page; `show` gets the id of each started job whose output matters. */
export function useDeeds(show: (job: string) => void): Deeds {
  const does = useAct(async (check: Check, action: Exclude<RowAction, 'show'>) => {
    const { target } = check
    if (action === 'check') return startCheck(target)
    if (action === 'repair') return show(await startRemedy({ target, action: 'repair_dpkg' }))
    if (action === 'start') return show(await startRemedy({ target, action: 'start_container' }))
    if (await confirmReview(check, action)) show(await startUpgrade(target))
  })
  const remedy = useAct(async (check: Check, finding: Finding, packages?: readonly string[]) => {
    const { target, findings } = check
    const action = finding.remedy?.action
    if (action === undefined || action === 'open_terminal' || action === 'review_conffile') return
    // Everybody may check; the endpoint of remedies is for administrators.
    if (action === 'retry_check') return startCheck(target)
    if (action !== 'allow_release_change')
      return show(await startRemedy({ target, action, ...(packages && { packages: [...packages] }) }))
    if (!(await confirmRelease(finding))) return
    // The service accepts the changes of all repositories when none is named.
    const isOnly = findings.filter(({ code }) => code === 'repository_changed').length === 1
    const { repository } = finding
    show(await startRemedy({ target, action, ...(isOnly && repository !== null && { repository }) }))
  })
  return {
    blocked: hostAway.value ? words().updates.awayBlocks : undefined,
    show,
    does: (check, action) => void does.run(check, action),
    remedy: (check, finding, packages) => void remedy.run(check, finding, packages),
    error: does.error.value ?? remedy.error.value,
  }
}

/** Whether the user may carry out the remedy of a finding. */
export function mayRemedy({ remedy }: Finding): boolean {
  return remedy !== null && (isAdmin.value || remedy.action === 'retry_check')
}
