import { ChevronRight, TriangleAlert } from 'lucide'
import { bytes } from '../../nouns/format.ts'
import { interruptedIn } from '../../nouns/impact.ts'
import { figuresOf, findingsOf, hasKernel } from '../../nouns/plan.ts'
import { worstFirst } from '../../nouns/target-list.ts'
import type { Planning } from '../../wire/planning.ts'
import { language, words } from '../../words/words.ts'
import { describeError } from '../../nouns/failure.ts'
import { Icon } from '../icon.tsx'
import { SecurityTag } from '../security-tag.tsx'
import { Status } from '../status.tsx'
import { targetName } from '../target-name.ts'

interface PlanRowProps {
  planning: Planning
  /** Whether it is in the run. */
  isIn: boolean
  takeIn(target: string, isIn: boolean): void
  read(): void
}

/** The plan of one target in two lines; its box takes it out of the run. */
export function PlanRow({ planning, isIn, takeIn, read }: PlanRowProps) {
  const say = words().plan.many
  const { target } = planning
  const name = targetName(target)
  const stage = planning.stage.value
  const plan = planning.current.value?.plan
  const isOut = stage === 'empty' || stage === 'impossible' || stage === 'failed'
  return (
    <li>
      <label class="box">
        <input
          type="checkbox"
          aria-label={say.take(name)}
          checked={isIn && !isOut}
          disabled={isOut}
          onChange={({ currentTarget }) => takeIn(target, currentTarget.checked)}
        />
      </label>
      <span class="grow">
        <span class="named">
          <span class="cut" title={name}>
            {name}
          </span>
          {target !== 'host' && <span class="dim num">{target.slice('lxc:'.length)}</span>}
        </span>
        <Said planning={planning} />
      </span>
      {plan && <Tags plan={plan} />}
      <button type="button" class="button plain small" aria-label={say.read(name)} data-target={target} onClick={read}>
        <Icon of={ChevronRight} />
      </button>
    </li>
  )
}

/** How far the plan is, or what it comes to. */
function Said({ planning }: { planning: Planning }) {
  const { plan: say, errors, shell } = words()
  const stage = planning.stage.value
  const plan = planning.current.value?.plan
  if (plan) {
    const size = plan.download_bytes === null ? '' : `, ${bytes(plan.download_bytes, shell.units.bytes, language())}`
    return (
      <span class="small dim said">
        {say.many.changes(plan.actions.length)}
        {size}
      </span>
    )
  }
  const [worst] = worstFirst(findingsOf(planning.error.value))
  // Nothing to do is only as true as the lists.
  if (stage === 'empty')
    return worst && worst.severity !== 'info' ? (
      <span class="small said cut-two">
        <Status is="warn" hidden /> {say.many.nothing}. {words().findings.sentence(worst)}
      </span>
    ) : (
      <span class="small dim said">{say.many.nothing}</span>
    )
  if (stage === 'impossible' || stage === 'failed') {
    const sentence = worst
      ? words().findings.sentence(worst)
      : describeError(planning.error.value, errors, shell.unexpected).sentence
    return (
      <span class="small said cut-two">
        <Status is="err" hidden /> {sentence}
      </span>
    )
  }
  return (
    <span class="small dim said">
      <Status is={stage === 'waiting' ? 'unknown' : 'run'} hidden /> {stage === 'ready' ? say.planning : say[stage]}
    </span>
  )
}

/** Warnings that have tags of their own, or that the sheet asks about. */
const ELSEWHERE: ReadonlySet<string> = new Set(['self_impact', 'kept_back_remove', 'conffile_changed'])

function Tags({ plan }: { plan: NonNullable<Planning['current']['value']>['plan'] }) {
  const { plan: all, findings } = words()
  const say = all.many
  const warned = worstFirst(plan.findings).filter(({ severity, code }) => severity !== 'info' && !ELSEWHERE.has(code))
  const files = plan.conffiles.filter(({ state }) => state === 'changed' || state === 'conflict')
  const taken = files.filter(({ choice }) => choice === 'take')
  const away = interruptedIn(plan.findings)
  const { removed, security, exploited } = figuresOf(plan.actions)
  return (
    <span class="tags">
      {removed > 0 && <span class="tag err">{say.removed(removed)}</span>}
      {warned.map(({ code, packages }) => (
        <span key={code} class="tag warn">
          {findings.short[code](packages.length, null)}
        </span>
      ))}
      {files.length > 0 && (
        <span class="tag">
          {taken.length > 0 ? say.replaced(taken.length) : findings.short.conffile_changed(files.length, null)}
        </span>
      )}
      <SecurityTag count={security} exploited={exploited} />
      {hasKernel(plan.target, plan.actions) && (
        <span class="tag">
          <Icon of={TriangleAlert} />
          {say.kernel}
        </span>
      )}
      {away && (
        <span class="tag">
          <Icon of={TriangleAlert} />
          {say.self[away]}
        </span>
      )}
    </span>
  )
}
