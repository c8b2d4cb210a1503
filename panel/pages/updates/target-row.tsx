import { ChevronRight } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import {
  type Check,
  type Finding,
  isHarmed,
  isUnanswered,
  needsReboot,
  shownOf,
  updatesIn,
} from '../../nouns/checked.ts'
import { bytes, percent } from '../../nouns/format.ts'
import { isSecurityUnknown } from '../../nouns/manager.ts'
import { actionOf, countIn, firstFinding, isUpgradable, type RowVerb } from '../../nouns/target-list.ts'
import { useKeptFocus } from '../../parts/accessibility.ts'
import { Applications } from '../../parts/applications/list.tsx'
import { Icon } from '../../parts/icon.tsx'
import { harmSaid } from '../../parts/protection/words.ts'
import { runningSaid } from '../../parts/restarts.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import type { Job } from '../../wire/jobs.ts'
import { isAdmin, mayOperate } from '../../wire/panel.ts'
import { language, words } from '../../words/words.ts'
import { ListsAge } from './age.tsx'
import type { Deeds } from './deeds.ts'
import { FindingList } from './finding-list.tsx'
import { PackageTable } from './package-table.tsx'
import { SecurityTag } from '../../parts/security-tag.tsx'

interface TargetRowProps {
  check: Check
  name: string
  /** The upgrade or repair that runs on it. */
  job: Job | undefined
  isOpen: boolean
  /** Whether a link leads to this row. */
  isSought: boolean
  onToggle(): void
  isPicked: boolean
  /** Adds it to the selection or takes it out; undefined where it cannot be upgraded. */
  onPick: ((isPicked: boolean) => void) | undefined
  deeds: Deeds
}

/** A target in one line, and everything about it once it is opened. */
export function TargetRow({ check, name, job, isOpen, isSought, onToggle, isPicked, onPick, deeds }: TargetRowProps) {
  const { updates: say, shell } = words()
  const id = useId()
  const row = useRef<HTMLTableRowElement>(null)
  useKeptFocus(row)
  useEffect(() => {
    if (!isSought) return undefined
    const show = () => {
      row.current?.querySelector<HTMLElement>('.opener')?.focus({ preventScroll: true })
      row.current?.scrollIntoView({ block: 'start' })
    }
    // The heading takes the focus first, in the task after the next frame.
    const frame = requestAnimationFrame(() => setTimeout(show))
    return () => cancelAnimationFrame(frame)
  }, [])
  const { target, state, counts, download_bytes: size } = check
  const isStopped = state === 'stopped' && !isHarmed(check)
  const isRunning = job !== undefined && !isStopped
  const shown = shownOf(check)
  const count = isStopped ? 0 : updatesIn(check)
  const finding = isRunning ? runningSaid(job) : findingText(check)
  const title = typeof finding === 'string' ? finding : undefined
  const action = actionOf(check, { isRunning, isAdmin: isAdmin.value, mayOperate: mayOperate(target) })
  const isIdle = !isRunning && /^(ok|off|barred)$/.test(shown.kind)
  return (
    <>
      <tr
        class={`row${isIdle ? ' idle' : isRunning ? ' running' : ''}${isPicked ? ' picked' : ''}`}
        ref={row}
        tabIndex={-1}
      >
        <td class="c-check">
          {onPick && (
            <label>
              <input
                type="checkbox"
                aria-label={say.pick(name)}
                checked={isPicked}
                onChange={({ currentTarget }) => onPick(currentTarget.checked)}
              />
            </label>
          )}
        </td>
        <td class="c-state">
          {isRunning ? (
            <Status is="run">{say.words.running}</Status>
          ) : (
            <Status is={shown.kind}>{say.words[shown.word]}</Status>
          )}
        </td>
        <td class="c-name">
          <span class="namecell">
            <button type="button" class="opener" aria-expanded={isOpen} aria-controls={id} onClick={onToggle}>
              <Icon of={ChevronRight} />
              <span class="cut-two" title={name}>
                {name}
              </span>
            </button>
            {target !== 'host' && <span class="id num">{target.slice('lxc:'.length)}</span>}
          </span>
        </td>
        <td class="c-find">
          {finding !== undefined ? (
            <span class="cut" title={title}>
              {finding}
            </span>
          ) : (
            <span class="zero">—</span>
          )}
        </td>
        <td class="c-up end">
          {count > 0 ? (
            <>
              {count}
              <span class="narrow"> {say.countWord(count)}</span>
            </>
          ) : (
            <span class="zero">{shown.word === 'upToDate' ? 0 : '—'}</span>
          )}
        </td>
        <td class="c-sec">
          {isStopped || counts.security + check.exploited === 0 ? (
            isSecurityUnknown(check) && !isStopped ? (
              <span class="zero" title={say.unknownSecurity}>
                ?<span class="unseen"> {say.unknownSecurity}</span>
              </span>
            ) : (
              <span class="zero">—</span>
            )
          ) : (
            <SecurityTag count={counts.security} exploited={check.exploited} />
          )}
        </td>
        <td class="c-size end">
          {size !== null && count > 0 ? bytes(size, shell.units.bytes, language()) : <span class="zero">—</span>}
        </td>
        <td class="c-age end">
          <ListsAge check={check} />
        </td>
        <td class="c-act end">
          {action && (
            <RowButton
              check={check}
              name={name}
              action={action}
              job={job}
              deeds={deeds}
              isOpen={isOpen}
              toggle={onToggle}
            />
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="detail" id={id}>
          <td colSpan={6}>
            <div class="sheet">
              <System check={check} />
              <FindingList check={check} deeds={deeds} />
              {isUpgradable(check) && !isRunning && action !== 'review' && mayOperate(target) && (
                <p>
                  <RowButton check={check} name={name} action="review" job={job} deeds={deeds} />
                </p>
              )}
              {check.checked_at !== null && <Applications check={check} name={name} blocked={deeds.blocked} />}
              {hasPackages(check) && <PackageTable check={check} label={say.showPackages(name)} deeds={deeds} />}
              {!hasPackages(check) && check.findings.length === 0 && !check.services_unseen && (
                <p class="dim">{say.nothingKnown}</p>
              )}
            </div>
          </td>
          <td class="c-check" />
          <td class="c-size" />
          <td class="c-age" />
        </tr>
      )}
    </>
  )
}

/** The distribution of a target, and its package manager. */
function System({ check: { os, manager } }: { check: Check }) {
  const told = [os?.name, manager].filter((text) => text !== null && text !== undefined && text !== '')
  return told.length === 0 ? null : <p class="dim small">{told.join(' · ')}</p>
}

function hasPackages({ counts }: Check): boolean {
  return counts.upgrade + counts.install + counts.remove + counts.held + counts.phased + counts.kept_back > 0
}

/** The few words about the worst that is known; undefined when there is nothing to say. */
function findingText(check: Check): ComponentChildren {
  const { updates: say, findings: short } = words()
  const { state, checking, checked_at, changed_at, last_upgrade: last, unfit, harm } = check
  if (harm && (isHarmed(check) || shownOf(check).word === 'back'))
    return (harm.ending === 'broken' && harmSaid(harm)) || <Harmed harm={harm} />
  if (shownOf(check).word === 'failed') return <Ago at={last?.finished_at} say={say.failed} />
  if (state === 'unknown' && checking) return say.checking
  if (state === 'unknown' && changed_at !== null) return <Ago at={changed_at} say={say.changed} />
  if (isUnanswered(check)) return say.neverAnswered
  const finding = firstFinding(check)
  const found = finding && short.short[finding.code](countIn(check, finding), placeOf(finding))
  // These states take the word of the row, so the failure is told beside them.
  if (last?.outcome === 'failed' && (state === 'blocked' || state === 'unsupported'))
    return (
      <>
        {`${found ?? short.short.manager_missing(0, null)} · `}
        <Ago at={last.finished_at} say={say.failed} />
      </>
    )
  if (found !== undefined && finding?.severity !== 'info') return found
  if (check.used !== undefined && state !== 'stopped') return say.diskFull(percent(check.used, language()))
  if (state === 'stopped') return found ?? short.short.container_stopped(0, null)
  if (state === 'unsupported') return short.short.manager_missing(0, null)
  if (needsReboot(check)) return short.short.reboot_required(0, null)
  if (unfit && isUpgradable(check)) return <Ago at={unfit.finished_at} say={say.unfit} />
  if (check.exploited > 0) return say.exploitedOpen
  if (found !== undefined) return found
  if (last?.outcome === 'warned' && checked_at !== null && last.finished_at >= checked_at)
    return <Ago at={last.finished_at} say={say.warned} />
  return checking ? say.checking : undefined
}

/** The time since when a target is broken, or at which it went back. */
function Harmed({ harm: { ending, finished_at } }: { harm: NonNullable<Check['harm']> }) {
  const { updates: say } = words()
  if (ending === 'stuck') return <Ago at={finished_at} say={say.stuck} />
  return <Ago at={finished_at} say={ending === 'back' ? say.wentBack : say.harmed} />
}

function placeOf({ repository }: Finding): string | null {
  return repository?.replace(/^\w+:\/\//, '') ?? null
}

interface RowButtonProps {
  check: Check
  name: string
  action: RowVerb
  job: Job | undefined
  deeds: Deeds
  isOpen?: boolean
  toggle?(): void
}

/** One button with a changing label, so that it keeps the focus after a press. */
function RowButton({ check, name, action, job, deeds, isOpen, toggle }: RowButtonProps) {
  const { updates: say } = words()
  const isChecking = action === 'check' && check.checking
  const isHarmless = action === 'show' || action === 'open'
  const blocked = isHarmless ? undefined : (deeds.blocked ?? (isChecking ? say.checking : undefined))
  if ((action === 'decide' || action === 'why') && check.harm)
    return (
      <a class="button small" href={`/updates/${check.harm.job_id}`} aria-label={say.actionOf[action](name)}>
        {say.action[action]}
      </a>
    )
  if (action === 'decide' || action === 'why') return null
  if (action === 'terminal')
    return (
      <a class="button small" href={`/terminal?target=${check.target}`} aria-label={say.actionOf.terminal(name)}>
        {say.action.terminal}
      </a>
    )
  const press = () => {
    if (blocked !== undefined) return
    if (action === 'open') toggle?.()
    else if (action === 'show') {
      if (job) deeds.show(job.job_id)
    } else if (action === 'accept' || action === 'clear') remedyFirst()
    else deeds.does(check, action)
  }
  const remedyFirst = () => {
    const finding = firstFinding(check)
    if (finding) deeds.remedy(check, finding)
  }
  return (
    <button
      type="button"
      class="button small"
      aria-label={say.actionOf[action](name)}
      aria-disabled={blocked !== undefined}
      aria-expanded={action === 'open' ? isOpen : undefined}
      title={blocked}
      onClick={press}
    >
      {say.action[action]}
    </button>
  )
}
