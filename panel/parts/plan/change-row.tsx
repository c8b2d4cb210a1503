import { useComputed, useSignal } from '@preact/signals'
import { ChevronDown, Lock } from 'lucide'
import { useId } from 'preact/hooks'
import { bytes } from '../../nouns/format.ts'
import { isApt, unableTo } from '../../nouns/manager.ts'
import type { Change } from '../../nouns/plan.ts'
import type { Planning } from '../../wire/planning.ts'
import { checkOf } from '../../wire/plans.ts'
import { language, words } from '../../words/words.ts'
import { Changelog } from '../changelog.tsx'
import { Icon } from '../icon.tsx'
import { Versions, Vulnerabilities } from '../package-parts.tsx'
import { SecurityTag } from '../security-tag.tsx'

/** A package with its versions; its box leaves it out. */
export function ChangeRow({ planning, of: change }: { planning: Planning; of: Change }) {
  const { plan: say, updates, shell } = words()
  const { name, arch, action, from, to, size, security, cves } = change
  const isOut = useComputed(() => planning.selection.value.exclude.includes(name)).value
  const isOpen = useSignal(false)
  const showsAll = useSignal(false)
  const id = useId()
  const exploited = cves.some((cve) => cve.known_exploited) ? 1 : 0
  const check = checkOf(planning.target)
  const unable = unableTo('exclude', check)
  const hasChangelog = to !== null && (check === undefined || isApt(check))
  const isTied = action === 'install' || action === 'remove'
  const whyFixed = unable !== undefined && !isOut ? say.cannot.exclude(unable) : isTied ? say.tied : undefined
  // The head of the group says that a package is new, or about security; what an upgrade takes away is said in each row.
  const isLess = action === 'remove' || action === 'downgrade'
  const isSecurity = security && action !== 'upgrade'
  const hasTags = isOut || isLess || isSecurity || cves.length > 0
  return (
    <li class={isOut ? 'chg is-out' : `chg is-${action}`}>
      {whyFixed !== undefined ? (
        <span class="box" title={whyFixed}>
          <Icon of={Lock} />
          <span class="unseen">{whyFixed}</span>
        </span>
      ) : (
        <label class="box">
          <input
            type="checkbox"
            aria-label={say.take(name)}
            checked={!isOut}
            onChange={({ currentTarget }) => planning.leaveOut(change, !currentTarget.checked)}
          />
        </label>
      )}
      <span class="pn cut" title={`${name}:${arch}`}>
        {name}
      </span>
      <Versions of={change} />
      <span class="ps small dim num">{size === null ? '' : bytes(size, shell.units.bytes, language())}</span>
      {hasChangelog ? (
        <button
          type="button"
          class="button plain small disclose"
          aria-expanded={isOpen.value}
          aria-controls={id}
          aria-label={say.changesOf(name)}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon of={ChevronDown} />
        </button>
      ) : (
        <span />
      )}
      {hasTags && (
        <div class="pt">
          {isOut && <span class="tag">{say.leftOut}</span>}
          {isLess && <span class="tag err">{updates.actions[action]}</span>}
          <SecurityTag count={isSecurity ? 1 : 0} exploited={exploited} word />
          <Vulnerabilities cves={cves} all={showsAll.value} showAll={() => (showsAll.value = true)} />
        </div>
      )}
      {isOpen.value && to !== null && (
        <div class="changelog" id={id}>
          <Changelog target={planning.target} package={name} from={from} to={to} />
        </div>
      )}
    </li>
  )
}
