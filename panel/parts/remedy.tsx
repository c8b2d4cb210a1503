import type { Check, Finding } from '../nouns/checked.ts'
import { startCheck } from '../wire/checks.ts'
import { hostAway } from '../wire/host.ts'
import { isAdmin, mayOperate } from '../wire/panel.ts'
import { startRemedy } from '../wire/remedies.ts'
import { words } from '../words/words.ts'
import { useAct } from './action.tsx'
import { BlockableButton } from './blockable-button.tsx'
import { confirm } from './dialog.tsx'
import { targetName } from './target-name.ts'

/** The target of a finding, as far as its remedy needs it. */
export type Remedied = Pick<Check, 'target' | 'name' | 'findings' | 'checking'>

/** The remedies of findings. */
export interface Remedies {
  /** The reason why nothing can start now. */
  blocked: string | undefined
  /** Carries out the remedy of a finding; `packages` limits it to these. */
  remedy(check: Remedied, finding: Finding, packages?: readonly string[]): void
  /** The error of the last start. */
  error: unknown
}

/** Carries out remedies; `show` gets the id of each started job, and `check` starts a new check. */
export function useRemedies(show: (job: string) => void, check: (target: string) => unknown = startCheck): Remedies {
  const remedy = useAct(async (of: Remedied, finding: Finding, packages?: readonly string[]) => {
    const { target, findings } = of
    const action = finding.remedy?.action
    if (action === undefined || action === 'open_terminal' || action === 'review_conffile') return undefined
    // Operators may check; the endpoint of remedies is for administrators.
    if (action === 'retry_check') return check(target)
    if (action !== 'allow_release_change')
      return show(await startRemedy({ target, action, ...(packages && { packages: [...packages] }) }))
    if (!(await confirmRelease(finding))) return undefined
    // The service accepts the changes of all repositories when none is named.
    const isOnly = findings.filter(({ code }) => code === 'repository_changed').length === 1
    const { repository } = finding
    return show(await startRemedy({ target, action, ...(isOnly && repository !== null && { repository }) }))
  })
  return {
    blocked: hostAway.value ? words().updates.awayBlocks : undefined,
    remedy: (of, finding, packages) => void remedy.run(of, finding, packages),
    error: remedy.error.value,
  }
}

/** Whether the user may carry out the remedy of a finding on a target. */
export function mayRemedy({ remedy }: Finding, target: string): boolean {
  return remedy !== null && (isAdmin.value || (remedy.action === 'retry_check' && mayOperate(target)))
}

/** Names the repository and its change, and asks whether to accept it. */
function confirmRelease(finding: Finding): Promise<boolean> {
  const { findings: say } = words()
  const text = (
    <>
      <p class="mono">{finding.repository}</p>
      <p>{say.sentence(finding)}</p>
      <p>{say.allowText}</p>
    </>
  )
  return confirm({ title: say.allowTitle, text, verb: say.allow })
}

interface RemedyButtonProps {
  check: Remedied
  finding: Finding
  by: Remedies
}

/** The button that carries out the remedy of a finding; nothing where there is none, or the user may not. */
export function RemedyButton({ check, finding, by }: RemedyButtonProps) {
  const say = words().findings
  const { remedy } = finding
  if (!remedy || !mayRemedy(finding, check.target)) return null
  const word = say.remedy(remedy)
  const label = say.remedyOf(word, check.target === 'host' ? targetName('host') : check.name)
  if (remedy.action === 'open_terminal' || remedy.action === 'review_conffile')
    return (
      <a class="button small" href={`/terminal?target=${check.target}`} aria-label={label}>
        {word}
      </a>
    )
  const isChecking = remedy.action === 'retry_check' && check.checking
  const blocked = by.blocked ?? (isChecking ? words().updates.checking : undefined)
  return (
    <BlockableButton class="small" label={label} blocked={blocked} press={() => by.remedy(check, finding)}>
      {word}
    </BlockableButton>
  )
}
