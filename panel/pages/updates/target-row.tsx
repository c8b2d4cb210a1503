import { useSignal } from '@preact/signals'
import { ChevronRight } from 'lucide'
import { useId, useRef } from 'preact/hooks'
import { told } from '../../nouns/failure.ts'
import { Icon } from '../../parts/icon.tsx'
import { useKeptFocus } from '../../parts/kept-focus.ts'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { running } from '../../wire/jobs.ts'
import { canBeChecked, check, checked, type Target } from '../../wire/packages.ts'
import { fromService, words } from '../../words/words.ts'
import { PackageTable } from './package-table.tsx'

interface TargetRowProps {
  target: Target
  onUpgrade(): void
  /** Shows the output of the upgrade that runs there. */
  onShow(job: string): void
}

/** A target: how it is, what waits there, and the button that does something about it. */
export function TargetRow({ target, onUpgrade, onShow }: TargetRowProps) {
  const { updates: say, errors, shell } = words()
  const isOpen = useSignal(false)
  const id = useId()
  const found = checked.value.get(target.id)
  const packages = found?.packages ?? []
  const name = target.id === 'host' ? targetName('host') : target.name
  const job = running.value.find((each) => each.target === target.id || (each.target === 'all' && target.id !== 'host'))
  const [kind, text] = stateOf()
  const failure = kind === 'err' ? told(found?.error, errors, shell.unexpected) : undefined
  const row = useRef<HTMLLIElement>(null)
  useKeptFocus(row)

  function stateOf(): [StatusKind, string] {
    if (!canBeChecked(target)) return ['off', say.stopped]
    // Of all containers, it is one at a time.
    if (job) return ['run', job.target === 'all' ? say.runningWithAll : say.running]
    if (found?.error !== undefined) return ['err', '']
    if (packages.length > 0) return ['warn', say.packages(packages.length)]
    if (found?.packages) return ['ok', say.upToDate]
    return ['unknown', found?.checking ? say.checking : say.unknown]
  }

  /** One button, whose word changes: who has pressed it keeps the focus. */
  function buttonOf(): { word: string; label: string; act(): void } | undefined {
    if (kind === 'run' && job) return { word: say.show, label: say.showOf(name), act: () => onShow(job.job_id) }
    if (kind === 'err') return { word: shell.retry, label: say.againOf(name), act: () => void check([target.id]) }
    if (kind === 'warn') return { word: say.upgrade, label: say.upgradeOf(name), act: onUpgrade }
    return undefined
  }
  const button = buttonOf()
  return (
    <li class={found?.checking ? 'checking' : undefined} ref={row} tabIndex={-1}>
      <Status is={kind} hidden />
      <div class="grow">
        {packages.length > 0 ? (
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
            {target.vmid !== undefined && <span class="dim num">{target.vmid}</span>}
            <Icon of={ChevronRight} />
          </button>
        ) : (
          <span class="opener">
            <span class="cut" title={name}>
              {name}
            </span>
            {target.vmid !== undefined && <span class="dim num">{target.vmid}</span>}
          </span>
        )}
        <p class={failure ? 'err-text' : 'dim'}>{failure?.sentence ?? text}</p>
        {failure?.reason && <p class="dim">{fromService(failure.reason)}</p>}
        {failure?.requestId && <p class="dim mono small">{shell.request(failure.requestId)}</p>}
      </div>
      {button && (
        <button type="button" class="button small" aria-label={button.label} onClick={button.act}>
          {button.word}
        </button>
      )}
      {isOpen.value && packages.length > 0 && (
        <div class="packages" id={id}>
          <PackageTable packages={packages} label={say.showPackages(name)} />
        </div>
      )}
    </li>
  )
}
