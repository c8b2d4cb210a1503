import { ChevronRight } from 'lucide'
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { type Guarded, guardOf, isWithout, jobOf, presentOf, type Snapshot } from '../../nouns/protection.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { lackSaid, policySaid, protectionWords } from '../../parts/protection/words.ts'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { isAdmin } from '../../wire/panel.ts'
import { protections, removeSnapshot } from '../../wire/protection.ts'

interface GuardedRowProps {
  of: Guarded
  edit(): void
  /** Shows the output of a job that was started here. */
  show(job: string): void
}

/** A container with its policy, what its storage can, and its snapshots once they are opened. */
export function GuardedRow({ of, edit, show }: GuardedRowProps) {
  const say = protectionWords().page
  const id = useId()
  const isOpen = useSignal(false)
  const { target, protection, own, can } = of
  const name = of.name || target
  const snapshots = presentOf(of.snapshots)
  const isLacking = isWithout(guardOf(target, protections.value))
  return (
    <li>
      <span class="grow">
        <span class="named">
          <b class="cut" title={name}>
            {name}
          </b>
          <span class="dim num">{target.slice('lxc:'.length)}</span>
          <span class="tag">{own ? say.own : say.byDefault}</span>
        </span>
        {own && <span class="line">{policySaid(protection)}</span>}
        <span class="small dim can">
          <Status is={isLacking ? 'warn' : canStatus(can)} hidden />
          <span>{can.why === null ? canSaid(can) : say.because(canSaid(can), lackSaid(can.why))}</span>
        </span>
      </span>
      {snapshots.length === 0 ? (
        <span class="dim small">{say.snapshots(0)}</span>
      ) : (
        <button
          type="button"
          class="button plain small disclose"
          aria-expanded={isOpen.value}
          aria-controls={id}
          aria-label={say.countOf(snapshots.length, name)}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon of={ChevronRight} />
          {say.snapshots(snapshots.length)}
        </button>
      )}
      {isAdmin.value && (
        <button type="button" class="button small" aria-label={say.editOf(name)} onClick={edit}>
          {say.edit}
        </button>
      )}
      {isOpen.value && snapshots.length > 0 && (
        <ul id={id} class="snapshots" aria-label={say.snapshotsOf(name)}>
          {snapshots.map((snapshot) => (
            <SnapshotRow key={snapshot.name} of={snapshot} show={show} />
          ))}
        </ul>
      )}
    </li>
  )
}

function canStatus({ snapshot, backup }: Guarded['can']): 'ok' | 'info' | 'unknown' {
  if (snapshot === true) return 'ok'
  return snapshot === null && backup === null ? 'unknown' : 'info'
}

function canSaid({ snapshot, backup }: Guarded['can']): string {
  const say = protectionWords().page.can
  if (snapshot === true) return backup === true ? say.both : say.snapshot
  if (snapshot === null) return say.unknown
  return backup === true ? say.backup : backup === false ? say.neither : say.noSnapshot
}

/** A snapshot. The panel removes its own alone. */
function SnapshotRow({ of, show }: { of: Snapshot; show(job: string): void }) {
  const say = protectionWords().page
  const { name, made_at, ours } = of
  const job = jobOf(of)
  const remove = useAct(async () => {
    if (job === undefined) return
    const { title, ...rest } = say.removing
    if (await confirm({ ...rest, title: title(name), danger: true })) show(await removeSnapshot(job))
  })
  return (
    <li>
      <span class={ours ? 'dot' : 'dot foreign'} />
      <span class="grow">
        <span class="mono anywhere">{name}</span>{' '}
        <span class="dim small">
          {ours ? say.before : say.foreign} · <Ago at={made_at} />
        </span>
        <Problem error={remove.error.value} />
      </span>
      {job !== undefined && (
        <a class="button plain small" href={`/updates/${job}`}>
          {say.seeJob}
        </a>
      )}
      {job !== undefined && isAdmin.value && (
        <Action act={remove} class="small" label={say.removeOf(name)}>
          {say.remove}
        </Action>
      )}
    </li>
  )
}
