import { useSignal } from '@preact/signals'
import { ChevronRight } from 'lucide'
import { useId } from 'preact/hooks'
import { told } from '../../nouns/failure.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { running } from '../../wire/jobs.ts'
import { canBeChecked, check, checked, type Target } from '../../wire/packages.ts'
import { words } from '../../words/words.ts'
import { PackageTable } from './package-table.tsx'

interface TargetRowProps {
  target: Target
  onUpgrade(): void
}

/** A target: how it is, what waits there, and the button that does something about it. */
export function TargetRow({ target, onUpgrade }: TargetRowProps) {
  const { updates: say, errors, shell } = words()
  const isOpen = useSignal(false)
  const id = useId()
  const found = checked.value.get(target.id)
  const packages = found?.packages ?? []
  const name = target.id === 'host' ? targetName('host') : target.name
  const runs = running.value.some((job) => job.target === target.id || (job.target === 'all' && target.id !== 'host'))
  const [kind, text] = stateOf()

  function stateOf(): [StatusKind, string] {
    if (runs) return ['run', say.running]
    if (!canBeChecked(target)) return ['off', say.stopped]
    if (found?.error !== undefined) return ['err', told(found.error, errors, shell.unexpected).sentence]
    if (packages.length > 0) return ['warn', say.packages(packages.length)]
    if (found?.packages) return ['ok', say.upToDate]
    return ['unknown', found?.checking ? say.checking : say.unknown]
  }
  return (
    <li class={found?.checking ? 'checking' : undefined}>
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
            <span>{name}</span>
            {target.vmid !== undefined && <span class="dim num">{target.vmid}</span>}
            <Icon of={ChevronRight} />
          </button>
        ) : (
          <span class="opener">
            <span>{name}</span>
            {target.vmid !== undefined && <span class="dim num">{target.vmid}</span>}
          </span>
        )}
        <p class={kind === 'err' ? 'err-text' : 'dim'}>{text}</p>
      </div>
      {kind === 'err' && (
        <button
          type="button"
          class="button small"
          aria-label={say.againOf(name)}
          onClick={() => void check([target.id])}
        >
          {shell.retry}
        </button>
      )}
      {kind === 'warn' && (
        <button type="button" class="button small" aria-label={say.upgradeOf(name)} onClick={onUpgrade}>
          {say.upgrade}
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
