import { useSignal } from '@preact/signals'
import { Undo2 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { clock, duration } from '../../nouns/format.ts'
import { go } from '../../router.ts'
import type { JobRecord } from '../../wire/job.ts'
import { isAdmin } from '../../wire/panel.ts'
import { lossesOfRollBack, rollBack } from '../../wire/protection.ts'
import { protectionWords } from './words.ts'
import { language, words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { Icon } from '../icon.tsx'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { targetName } from '../target-name.ts'
import { now } from '../time.tsx'

interface RollBackProps {
  record: JobRecord
  snapshot: NonNullable<JobRecord['snapshot']>
  /** The number of packages that the upgrade has changed, if it is known. */
  changes: number | undefined
}

/** The way back to the state before an upgrade: what is lost first, then a button that asks once more, in the page. */
export function RollBack({ record, snapshot, changes }: RollBackProps) {
  const protection = protectionWords()
  const { shell } = words()
  const say = protection.rollBack
  const isAsked = useSignal(false)
  const first = useRef<HTMLParagraphElement>(null)
  const made = Date.parse(snapshot.made_at)
  const at = clock(made, now.value, language())
  const name = targetName(record.target)
  /** The volumes that a backup does not have. They are read before the second question. */
  const destroys = useSignal<readonly string[] | undefined>(undefined)
  const ask = useAct(async () => {
    if (snapshot.kind === 'backup') destroys.value = await lossesOfRollBack(record.job_id)
    isAsked.value = true
  })
  /** Whether the second question was declined, so that the first one gets the focus back. */
  const isDeclined = useRef(false)
  // Before the paint: a later focus would come after the next key, or take it from where the user went.
  useLayoutEffect(() => {
    if (isDeclined.current) first.current?.querySelector<HTMLElement>('.undo')?.focus()
    isDeclined.current = false
  }, [isAsked.value])
  const start = useAct(async () => go(`/updates/${await rollBack(record.job_id, snapshot.kind)}`))
  return (
    <section class="choice-card undo" aria-labelledby="roll-back">
      <h2 id="roll-back">
        <Icon of={Undo2} />
        {say.title(at)}
      </h2>
      <p class="dim">{snapshot.kind === 'backup' ? say.backup : say.text(changes)}</p>
      <p class="loss">
        <Status is="warn" hidden />
        <span>
          {say.loss(name, at)} <b>{say.lossTime(duration((now.value - made) / 1000, shell.units))}</b>
        </span>
      </p>
      <Problem error={start.error.value ?? ask.error.value} />
      {!isAdmin.value && <p class="dim">{say.forAdmins}</p>}
      {isAdmin.value && !isAsked.value && (
        <p class="buttons" ref={first}>
          <Action act={ask} class="undo">
            <span class="cut" title={say.verb(name)}>
              {say.verb(name)}
            </span>
          </Action>
        </p>
      )}
      {isAdmin.value && isAsked.value && (
        <Sure
          decline={() => {
            isAsked.value = false
            start.forget()
            isDeclined.current = true
          }}
          loss={destroys.value?.length === 0 ? say.hasAll : destroys.value && say.destroys(destroys.value.join(', '))}
        >
          <Action act={start} class="undo">
            {say.sureVerb}
          </Action>
        </Sure>
      )}
    </section>
  )
}

/** The second question. The button that changes nothing has the focus. */
function Sure({
  decline,
  loss,
  children,
}: {
  decline(): void
  loss?: string | undefined
  children: ComponentChildren
}) {
  const say = protectionWords().rollBack
  const no = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => no.current?.focus(), [])
  return (
    <fieldset class="sure" aria-label={say.sure}>
      <p>
        <b>{say.sure}</b> {loss}
      </p>
      <p class="buttons">
        {children}
        <button type="button" class="button" ref={no} onClick={decline}>
          {say.no}
        </button>
      </p>
    </fieldset>
  )
}

/** Why there is no way back. */
export function NoWayBack({ record }: { record: JobRecord }) {
  const say = protectionWords().rollBack
  const { snapshot } = record
  return (
    <section class="choice-card" aria-labelledby="roll-back">
      <h2 id="roll-back">
        <Icon of={Undo2} />
        {say.impossible}
      </h2>
      <p class="dim">{snapshot === null ? say.never : snapshot.kind === 'backup' ? say.goneBackup : say.gone}</p>
    </section>
  )
}
