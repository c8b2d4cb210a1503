import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { latenessOf } from '../../nouns/impact.ts'
import { isSecurityUnknown } from '../../nouns/manager.ts'
import { figuresOf, isPlanRefused, minutesLeft, type Selection } from '../../nouns/plan.ts'
import { go } from '../../router.ts'
import { hostAway } from '../../wire/host.ts'
import { createPlanning, type Planning } from '../../wire/planning.ts'
import { checkOf, startRun } from '../../wire/plans.ts'
import { words } from '../../words/words.ts'
import { useAct } from '../action.tsx'
import { CloseButton, Dialog } from '../dialog.tsx'
import { Problem } from '../problem.tsx'
import { GuardSummary } from '../protection/guard.tsx'
import { targetName } from '../target-name.ts'
import { now } from '../time.tsx'
import { FigureRow } from './figures.tsx'
import { Cautions, StartButton } from './foot.tsx'
import { PlanRow } from './plan-row.tsx'
import { Switch } from './switch.tsx'
import { PlanBody, PlanHead } from './view.tsx'

interface ManySheetProps {
  targets: readonly string[]
  chosen: Partial<Selection>
  /** Closes the sheet; with the id of the run. */
  answer(started: string | undefined): void
}

/** One plan for each of several targets, and the button that starts exactly these. */
export function ManySheet({ targets, chosen, answer }: ManySheetProps) {
  const { plan: say } = words()
  const plannings = useMemo(() => groundLast(targets).map((target) => createPlanning(target, chosen)), [])
  const out = useSignal<ReadonlySet<string>>(new Set())
  const read = useSignal<Planning>()
  useEffect(() => {
    for (const planning of plannings) void planning.make()
    return () => {
      for (const planning of plannings) planning.stop()
    }
  }, [])
  const shown = read.value
  /** The target whose plan was read last. */
  const last = useRef<string>(undefined)
  const leave = () => {
    if (shown) read.value = undefined
    else answer(undefined)
  }
  return (
    <Dialog
      title={shown ? say.title(targetName(shown.target)) : say.many.title(targets.length)}
      onClose={leave}
      class="drawer"
    >
      <CloseButton close={leave} />
      {shown ? (
        <One
          planning={shown}
          back={leave}
          show={(job) => {
            answer(undefined)
            go(`/updates/${job}`)
          }}
        />
      ) : (
        <All
          plannings={plannings}
          out={out.value}
          takeIn={(target, isIn) => {
            const next = new Set(out.value)
            if (isIn) next.delete(target)
            else next.add(target)
            out.value = next
          }}
          read={(planning) => {
            last.current = planning.target
            read.value = planning
          }}
          last={last.current}
          answer={answer}
        />
      )}
    </Dialog>
  )
}

/** The order of the service: the targets on which the panel stands last, and the host after them. */
function groundLast(targets: readonly string[]): string[] {
  return [...targets].sort((one, other) => lateness(one) - lateness(other))
}

function lateness(target: string): number {
  return latenessOf(target, checkOf(target)?.findings ?? [])
}

/** The plan of one of the targets. */
function One({ planning, back, show }: { planning: Planning; back(): void; show(job: string): void }) {
  const button = useRef<HTMLButtonElement>(null)
  // Before the paint, like the list when it is back: the next key goes to what is shown.
  useLayoutEffect(() => button.current?.focus(), [])
  return (
    <>
      <PlanHead planning={planning} />
      <PlanBody planning={planning} show={show} />
      <footer>
        <span class="grow" />
        <button type="button" class="button" ref={button} onClick={back}>
          {words().plan.many.back}
        </button>
      </footer>
    </>
  )
}

interface AllProps {
  plannings: readonly Planning[]
  /** Targets that were taken out of the run. */
  out: ReadonlySet<string>
  takeIn(target: string, isIn: boolean): void
  read(planning: Planning): void
  /** The target whose plan was read last, to which the focus returns. */
  last: string | undefined
  answer(started: string | undefined): void
}

function All({ plannings, out, takeIn, read, last, answer }: AllProps) {
  const { plan: say, shell, updates } = words()
  const place = useRef<HTMLDivElement>(null)
  const taken = plannings.filter(({ target }) => !out.has(target))
  const isUnderWay = ({ stage, current }: Planning) => !current.value && /ing$|ready/.test(stage.value)
  const making = taken.filter(isUnderWay)
  const first = Math.min(...taken.map(({ target }) => lateness(target)))
  const late = taken.flatMap(({ target }) => (lateness(target) > first ? [targetName(target)] : []))
  const current = taken.flatMap((planning) => planning.current.value ?? [])
  const expired = current.filter(({ plan, at }) => minutesLeft(plan, at, now.value) === 0)
  const failed = taken.filter(({ stage }) => stage.value === 'failed')
  const changes = current.flatMap(({ plan }) => plan.actions)
  const sizes = current.map(({ plan }) => plan.download_bytes)
  const start = useAct(async () => {
    try {
      answer(await startRun(current.map(({ plan }) => plan.id)))
    } catch (error) {
      // Which of the plans it is about is not told, so all of them are made anew.
      if (isPlanRefused(error)) for (const planning of taken) if (planning.current.peek()) planning.refuse(error)
      throw error
    }
  })
  const isAgain = expired.length > 0 || (making.length === 0 && current.length === 0 && failed.length > 0)
  const blocked = hostAway.value ? updates.awayBlocks : undefined
  const isReady = making.length === 0 && !start.busy.value && (isAgain || current.length > 0)
  const press = () => {
    if (!isReady || blocked !== undefined) return
    if (!isAgain) void start.run()
    else for (const planning of taken) if (planning.stage.peek() !== 'empty') void planning.make({ isPressed: true })
  }
  useLayoutEffect(() => {
    // The list is back after a plan was read.
    const dialog = place.current?.closest('dialog')
    if (!dialog || dialog.contains(document.activeElement)) return
    const row = last === undefined ? '[data-first]' : `[data-target="${CSS.escape(last)}"]`
    dialog.querySelector<HTMLElement>(row)?.focus()
  }, [])
  const isSecurity = plannings.every(({ selection }) => selection.value.only === 'security')
  return (
    <>
      <header ref={place}>
        <p class="made small dim" role="status">
          {say.many.taken(current.length, plannings.length)}
          {making.length > 0 && ` · ${say.many.making(making.length)}`}
          {expired.length > 0 && <b class="warn-text"> · {say.expired}</b>}
        </p>
        <FigureRow
          figures={figuresOf(changes)}
          isUnknown={taken.some(({ target, current }) => current.value && isSecurityUnknown(checkOf(target)))}
          download={
            sizes.some((size) => size === null) ? null : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0)
          }
        />
      </header>
      <div class="sheet-body">
        <fieldset class="switches" aria-label={say.options}>
          <Switch
            label={say.securityOnly}
            hint={say.securityHint}
            isOn={isSecurity}
            turn={(isOn) => {
              for (const planning of plannings) planning.choose({ only: isOn ? 'security' : 'all' })
            }}
          />
        </fieldset>
        <section aria-label={say.many.list}>
          <p class="dim small">
            {say.many.order}
            {late.length > 0 && ` ${say.many.last(late.join(', '))}`}
          </p>
          <ul class="list many">
            {plannings.map((planning) => (
              <PlanRow
                key={planning.target}
                planning={planning}
                isIn={!out.has(planning.target)}
                takeIn={takeIn}
                read={() => read(planning)}
              />
            ))}
          </ul>
        </section>
      </div>
      <footer>
        <Problem error={start.error.value} />
        <Cautions plannings={taken.filter((planning) => planning.current.value !== undefined)} />
        <GuardSummary targets={taken.flatMap(({ target, current }) => (current.value ? [target] : []))} />
        <p class="grow small dim">{current.length > 0 ? say.many.exactly(changes.length, current.length) : say.none}</p>
        <button type="button" class="button" onClick={() => answer(undefined)}>
          {shell.cancel}
        </button>
        <StartButton isReady={isReady} blocked={blocked} busy={start.busy.value} press={press}>
          {isAgain ? say.many.again : say.many.start}
        </StartButton>
      </footer>
    </>
  )
}
