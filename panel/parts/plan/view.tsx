import { isSecurityUnknown, unableTo } from '../../nouns/manager.ts'
import { behindRemoval, figuresOf, findingsOf, minutesLeft } from '../../nouns/plan.ts'
import { worstFirst } from '../../nouns/target-list.ts'
import type { Planning } from '../../wire/planning.ts'
import { checkOf } from '../../wire/plans.ts'
import { words } from '../../words/words.ts'
import { FindingText } from '../finding-text.tsx'
import { Problem } from '../problem.tsx'
import { type Remedied, RemedyButton, useRemedies } from '../remedy.tsx'
import { Status } from '../status.tsx'
import { targetName } from '../target-name.ts'
import { Ago, now } from '../time.tsx'
import { ChangeList } from './changes.tsx'
import { Conffiles } from './conffiles.tsx'
import { FigureRow } from './figures.tsx'
import { Switch } from './switch.tsx'

/** How far the plan is and what it comes to. */
export function PlanHead({ planning }: { planning: Planning }) {
  const { current, changes, selection } = planning
  const check = checkOf(planning.target)
  const plan = current.value?.plan
  const excluded = new Set(selection.value.exclude)
  const { only, allow_remove: removes } = selection.value
  const isWhole = only === 'all' && !removes && excluded.size === 0 && planning.stage.value !== 'empty'
  return (
    <header>
      <Made planning={planning} />
      <FigureRow
        figures={figuresOf(changes.value.filter(({ name }) => !excluded.has(name)))}
        isUnknown={isSecurityUnknown(check)}
        download={plan ? plan.download_bytes : isWhole ? (check?.download_bytes ?? null) : null}
        disk={plan ? plan.disk_bytes : isWhole ? (check?.disk_bytes ?? null) : null}
      />
    </header>
  )
}

/** The age of the plan, or of the list until there is a plan. */
function Made({ planning }: { planning: Planning }) {
  const say = words().plan
  const stage = planning.stage.value
  const current = planning.current.value
  const checked = checkOf(planning.target)?.checked_at
  if (current) {
    const left = minutesLeft(current.plan, current.at, now.value)
    return (
      <p class="made small dim" role="status">
        <Ago at={current.at} say={say.made} />, {left > 0 ? say.valid(left) : <b class="warn-text">{say.expired}</b>}
        {planning.differs.value && <b class="warn-text"> · {say.differs}</b>}
      </p>
    )
  }
  const isUnderWay = stage === 'waiting' || stage === 'checking' || stage === 'planning' || stage === 'ready'
  return (
    <p class="made small dim" role="status">
      {isUnderWay && (
        <>
          <Status is="run" hidden />{' '}
        </>
      )}
      {stage === 'ready' ? say.planning : stage === 'empty' ? say.many.nothing : say[stage]}{' '}
      {isUnderWay && (checked ? <Ago at={checked} say={say.basis} /> : say.noBasis)}
    </p>
  )
}

interface PlanBodyProps {
  planning: Planning
  /** Leaves the sheet for the output of a job that was started in it. */
  show(job: string): void
}

/** Findings and removals first, then the choice, then every change. */
export function PlanBody({ planning, show }: PlanBodyProps) {
  return (
    <div class="sheet-body">
      <Refusal planning={planning} />
      <Findings planning={planning} show={show} />
      <Choices planning={planning} />
      <Conffiles planning={planning} />
      <ChangeList planning={planning} />
      <LeftAlone planning={planning} />
    </div>
  )
}

/** Why there is no plan, unless its findings say so. */
function Refusal({ planning }: { planning: Planning }) {
  const say = words().plan
  const stage = planning.stage.value
  if (stage === 'failed') return <Problem error={planning.error.value} />
  if (stage === 'empty') return <p class="empty">{say.empty}</p>
  if (stage === 'impossible' && findingsOf(planning.error.value).length === 0)
    return <Problem error={planning.error.value} />
  return null
}

function Findings({ planning, show }: PlanBodyProps) {
  const say = words().plan
  const { target } = planning
  const check = checkOf(target)
  const refused = findingsOf(planning.error.value)
  const findings = refused.length > 0 ? refused : (planning.current.value?.plan.findings ?? check?.findings ?? [])
  const remedies = useRemedies(show, () => planning.make({ recheck: true }))
  // The switches below say the same about removals, and the list of configuration files about these.
  const isSaidBelow = (code: string) =>
    code === 'kept_back_remove' || (code === 'conffile_changed' && planning.current.value?.plan.conffiles.length)
  const told = worstFirst(findings).filter(
    ({ severity, code }) => (severity !== 'info' || code === 'self_impact') && !isSaidBelow(code),
  )
  if (told.length === 0) return <Problem error={remedies.error} />
  const of: Remedied = check ?? { target, name: targetName(target), findings, checking: false }
  return (
    <section aria-label={say.readBefore}>
      <Problem error={remedies.error} />
      <ul class="findings">
        {told.map((finding) => (
          <li key={`${finding.code} ${finding.repository} ${finding.message}`}>
            <FindingText finding={finding} />
            <RemedyButton check={{ ...of, findings }} finding={finding} by={remedies} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const LEFT_ALONE: ReadonlySet<string> = new Set(['held', 'phased', 'kept_back_dependencies'])

/** The packages that no upgrade changes now, and the reasons. */
function LeftAlone({ planning }: { planning: Planning }) {
  const { plan: say, findings: all } = words()
  const found = planning.current.value?.plan.findings ?? findingsOf(planning.error.value)
  const left = found.filter(({ code, severity }) => severity === 'info' && LEFT_ALONE.has(code))
  if (left.length === 0) return null
  return (
    <section aria-label={say.leftAlone}>
      <h3>{say.leftAlone}</h3>
      {left.map((finding) => (
        <p key={`${finding.code} ${finding.message}`} class="small dim">
          {all.sentence(finding)}
        </p>
      ))}
    </section>
  )
}

/** Names shown at once; the list has all. */
const NAMED = 6

/** The switches for removals and for security alone. */
function Choices({ planning }: { planning: Planning }) {
  const say = words().plan
  const { only, allow_remove: removes } = planning.selection.value
  const { waiting, removed: foreseenToGo } = behindRemoval(planning.known.value ?? [])
  const gone = planning.changes.value.flatMap(({ action, name }) => (action === 'remove' ? [name] : []))
  const named = (names: readonly string[]) =>
    names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ` + ${names.length - NAMED}` : '')
  const unable = unableTo('security', checkOf(planning.target))
  const isAsked = removes || waiting.length + foreseenToGo.length > 0
  return (
    <fieldset class="switches" aria-label={say.options}>
      {isAsked && (
        <Switch
          kind="removes"
          label={say.allowRemove}
          hint={
            removes && gone.length > 0
              ? say.removesText(named(gone))
              : say.removesIf(named(waiting), named(foreseenToGo))
          }
          isOn={removes}
          turn={(isOn) => planning.choose({ allow_remove: isOn })}
        />
      )}
      <Switch
        label={say.securityOnly}
        hint={unable === undefined ? say.securityHint : say.cannot.security(unable)}
        isOn={only === 'security'}
        isBarred={unable !== undefined}
        turn={(isOn) => planning.choose({ only: isOn ? 'security' : 'all' })}
      />
    </fieldset>
  )
}
