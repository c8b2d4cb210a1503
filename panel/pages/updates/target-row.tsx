import { useSignal } from '@preact/signals'
import { ChevronRight } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { type Check, canBeRepaired, isUnanswered, shownOf, updatesIn } from '../../nouns/checked.ts'
import { useKeptFocus } from '../../parts/accessibility.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { running } from '../../wire/jobs.ts'
import { isAdmin } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { PackageTable } from './package-table.tsx'

interface TargetRowProps {
  check: Check
  /** The reason why nothing can start now. */
  blocked: string | undefined
  onUpgrade(): void
  onRepair(): void
  onCheck(): void
  /** Shows the output of the upgrade or repair that runs on this target. */
  onShow(job: string): void
}

/** A target: its state, its updates, and the buttons for both. */
const DAY_MS = 24 * 60 * 60_000

export function TargetRow({ check, blocked, onUpgrade, onRepair, onCheck, onShow }: TargetRowProps) {
  const { updates: say, shell } = words()
  const isOpen = useSignal(false)
  const id = useId()
  const { target, findings, last_upgrade: last } = check
  const vmid = target === 'host' ? undefined : target.slice('lxc:'.length)
  const name = target === 'host' ? targetName('host') : check.name
  const job = running.value.find(
    (each) => each.kind !== 'check' && (each.target === target || (each.target === 'all' && target !== 'host')),
  )
  const count = updatesIn(check)
  const shown = shownOf(check)
  const isSilent = isUnanswered(check)
  /** Shown beside a worse state: that state comes from an older check. */
  const isSilentToo = isSilent && shown.kind === 'err' && !check.checking
  const kind = shown.kind !== 'off' && job ? 'run' : shown.kind
  const opens = check.counts.upgrade + check.counts.install + check.counts.kept_back + check.counts.held > 0
  const row = useRef<HTMLLIElement>(null)
  useKeptFocus(row)

  function sentence(): ComponentChildren {
    // An upgrade of all containers processes them one at a time.
    if (kind === 'run' && job?.kind === 'remedy') return say.repairing
    if (kind === 'run') return job?.target === 'all' ? say.runningWithAll : say.running
    if (check.checking && kind === 'unknown') return say.checking
    if (shown.text === 'failed') return <Ago at={last?.finished_at} say={say.failed} />
    if (shown.text === 'changed') return <Ago at={check.changed_at} say={say.changed} />
    if (shown.text === 'unanswered') return <Ago at={check.checked_at} say={say.unanswered} />
    if (shown.text === 'never') return isSilent ? say.neverAnswered : say.unknown
    if (shown.text === 'ready') return say.packages(count)
    return say.states[shown.text]
  }

  /** One button with a changing label, so that it keeps the focus after a press. */
  function buttonOf(): RowButton | undefined {
    if (kind === 'run' && job)
      return { word: say.show, label: say.showOf(name), starts: false, act: () => onShow(job.job_id) }
    if (shown.text === 'failed' || (shown.text === 'unfinished' && check.checked_at !== null))
      return { word: shell.retry, label: say.upgradeOf(name), starts: true, act: onUpgrade }
    if (isSilent || /^(changed|attention|blocked)$/.test(shown.text)) {
      const word = check.checking ? say.checking : say.check
      return { word, label: say.againOf(name), starts: true, act: onCheck, blocked: check.checking ? word : undefined }
    }
    if (count > 0 && kind !== 'off' && shown.text !== 'blocked')
      return { word: say.upgrade, label: say.upgradeOf(name), starts: true, act: onUpgrade }
    return undefined
  }
  const button = buttonOf()
  const repairs = kind !== 'run' && isAdmin.value && canBeRepaired(check)
  // The age of the lists already covers old or missing lists, but not those whose refresh failed today.
  const isOfToday = check.lists_at !== null && Date.now() - Date.parse(check.lists_at) < DAY_MS
  const told = findings.filter(
    ({ code, repository }) => (code !== 'lists_stale' || repository !== null || isOfToday) && say.findings[code],
  )
  const isOld = findings.some(({ code, repository }) => code === 'lists_stale' && repository === null)
  return (
    <li class={check.checking ? 'checking' : undefined} ref={row} tabIndex={-1}>
      <Status is={kind} hidden />
      <div class="grow">
        {opens ? (
          <button
            type="button"
            class="opener"
            aria-expanded={isOpen.value}
            aria-controls={id}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            <span class="cut" title={name}>
              {name}
            </span>
            {vmid !== undefined && <span class="dim num">{vmid}</span>}
            <Icon of={ChevronRight} />
          </button>
        ) : (
          <span class="opener">
            <span class="cut" title={name}>
              {name}
            </span>
            {vmid !== undefined && <span class="dim num">{vmid}</span>}
          </span>
        )}
        <p class={kind === 'err' ? 'err-text' : 'dim'}>
          <span>{sentence()}</span>
          {isSilent && shown.kind !== 'err' && kind !== 'run' && <SeeCheck id={check.job_id} />}
        </p>
        {isSilentToo && (
          <p class="warn-text">
            {check.checked_at === null ? say.neverAnswered : <Ago at={check.checked_at} say={say.unanswered} />}
            {kind !== 'run' && <SeeCheck id={check.job_id} />}
          </p>
        )}
        {told.map(({ code, repository, packages }) => (
          <p key={`${code} ${repository}`} class="warn-text">
            {say.findings[code]?.(repository?.replace(/^https?:\/\//, '') ?? null, packages)}
          </p>
        ))}
        <p class={isOld ? 'warn-text' : 'dim'}>
          {kind !== 'run' && shown.text !== 'ready' && count > 0 && <span>{say.packages(count)} · </span>}
          {check.manager === 'apt' && kind !== 'off' && <Lists at={check.lists_at} />}
        </p>
      </div>
      {(repairs || button) && (
        <div class="does">
          {repairs && <Does word={say.repair} label={say.repairOf(name)} blocked={blocked} act={onRepair} />}
          {button && (
            <Does
              word={button.word}
              label={button.label}
              blocked={button.starts ? (blocked ?? button.blocked) : undefined}
              act={button.act}
            />
          )}
        </div>
      )}
      {isOpen.value && opens && (
        <div class="packages" id={id}>
          <PackageTable target={target} at={check.checked_at} label={say.showPackages(name)} />
        </div>
      )}
    </li>
  )
}

/** Links to the check that the target did not answer. */
function SeeCheck({ id }: { id: string | null }) {
  if (id === null) return null
  return (
    <>
      {' · '}
      <a href={`/updates/${id}`}>{words().updates.seeCheck}</a>
    </>
  )
}

interface RowButton {
  word: string
  label: string
  /** Whether it starts something on the host. */
  starts: boolean
  /** The reason why it is disabled now. */
  blocked?: string | undefined
  act(): void
}

/** The age of the package lists behind the result. */
function Lists({ at }: { at: string | null }) {
  const say = words().updates
  return at === null ? <span>{say.listsMissing}</span> : <Ago at={at} say={say.lists} />
}

interface DoesProps {
  word: string
  label: string
  blocked: string | undefined
  act(): void
}

function Does({ word, label, blocked, act }: DoesProps) {
  return (
    <button
      type="button"
      class="button small"
      aria-label={label}
      aria-disabled={blocked !== undefined}
      title={blocked}
      onClick={() => blocked === undefined && act()}
    >
      {word}
    </button>
  )
}
