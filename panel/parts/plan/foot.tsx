import type { ComponentChildren } from 'preact'
import { awayWith, interruptedIn } from '../../nouns/impact.ts'
import { figuresOf, hasKernel, minutesLeft, shortHash } from '../../nouns/plan.ts'
import type { Planning } from '../../wire/planning.ts'
import { checkOf } from '../../wire/plans.ts'
import { words } from '../../words/words.ts'
import { GuardLine } from '../protection/guard.tsx'
import { now } from '../time.tsx'

interface FootProps {
  planning: Planning
  busy: boolean
  /** The reason why nothing can start now. */
  blocked: string | undefined
  start(): void
  close(): void
  children: ComponentChildren
}

/** The sentences that must be read before a start, the hash of the plan, and the button that starts it or makes it anew. */
export function Foot({ planning, busy, blocked, start, close, children }: FootProps) {
  const { plan: say, shell } = words()
  const current = planning.current.value
  const stage = planning.stage.value
  const isExpired = current !== undefined && minutesLeft(current.plan, current.at, now.value) === 0
  const deed =
    isExpired || stage === 'failed' || stage === 'impossible' ? 'again' : stage === 'empty' ? 'recheck' : 'start'
  const isReady = deed !== 'start' || (current !== undefined && !busy)
  const press = () => {
    if (!isReady || blocked !== undefined) return
    if (deed === 'start') start()
    else void planning.make({ recheck: deed === 'recheck' || stage === 'impossible', isPressed: true })
  }
  return (
    <footer>
      {children}
      <Cautions plannings={[planning]} />
      <GuardLine target={planning.target} />
      <p class="grow small dim">
        {current ? (
          <>
            {say.exactly(current.plan.actions.length)}{' '}
            <code class="hash" title={current.plan.hash}>
              {shortHash(current.plan.hash)}
            </code>
          </>
        ) : (
          say.none
        )}
      </p>
      <button type="button" class="button" onClick={close}>
        {shell.cancel}
      </button>
      <StartButton isReady={isReady} blocked={blocked} busy={busy} press={press}>
        {say[deed]}
      </StartButton>
    </footer>
  )
}

interface StartButtonProps {
  isReady: boolean
  blocked: string | undefined
  busy: boolean
  press(): void
  children: ComponentChildren
}

/** The default button of a sheet. It has the focus from the beginning; a key that is kept down does not press it. */
export function StartButton({ isReady, blocked, busy, press, children }: StartButtonProps) {
  return (
    <button
      type="button"
      class="button primary"
      data-first
      aria-disabled={!isReady || blocked !== undefined}
      aria-busy={busy}
      title={blocked}
      onKeyDown={(event) => {
        if (event.repeat) event.preventDefault()
      }}
      onClick={press}
    >
      {children}
    </button>
  )
}

/** Sentences about what a start interrupts: the host, a kernel, the panel’s own parts, removals. */
export function Cautions({ plannings }: { plannings: readonly Planning[] }) {
  const say = words().plan.cautions
  const all = plannings.map((planning) => {
    const { target, selection, changes, current } = planning
    const excluded = new Set(selection.value.exclude)
    const findings = current.value?.plan.findings ?? checkOf(target)?.findings ?? []
    return {
      target,
      changes: changes.value.filter(({ name }) => !excluded.has(name)),
      interrupted: interruptedIn(findings),
    }
  })
  const { removed } = figuresOf(all.flatMap(({ changes }) => changes))
  const away = awayWith(all.map(({ interrupted }) => interrupted))
  const told = [
    removed > 0 && say.removed(removed),
    all.some(({ target }) => target === 'host') && say.host,
    all.some(({ target, changes }) => hasKernel(target, changes)) && say.kernel,
    away !== undefined && say.away[away],
  ].filter((sentence) => sentence !== false)
  if (told.length === 0) return null
  return <p class="cautions small">{told.join(' ')}</p>
}
