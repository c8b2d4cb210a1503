import { useSignal } from '@preact/signals'
import { dateSaid } from '../../nouns/when.ts'
import type { Schedule } from '../../nouns/schedule.ts'
import { scheduleWords } from '../../parts/schedules/words.ts'
import { now } from '../../parts/time.tsx'
import { go } from '../../router.ts'
import { language } from '../../words/words.ts'

interface StripProps {
  id: string
  name: string
  runs: Schedule['recent']
  /** The result of the last run, said beside its date. */
  last: string
}

/**
 * The last runs, oldest first: one stop for the keyboard, in which arrows, Home and End walk. The sentence below follows, and leads to the
 * run.
 */
export function Strip({ id, name, runs, last }: StripProps) {
  const say = scheduleWords()
  /** The chosen run, counted from the newest: a run that begins does not move the choice. */
  const back = useSignal(0)
  const newest = runs.length - 1
  const at = Math.max(0, newest - back.value)
  const chosen = runs[at]
  if (!chosen) return <p class="small dim">{say.noRuns}</p>
  const choose = (n: number) => {
    back.value = newest - Math.min(newest, Math.max(0, n))
  }
  const sentence = (n: number) => {
    const run = runs[n]
    if (!run) return ''
    const state = say.states[run.state]
    const day = dateSaid(Date.parse(run.due_at), now.value, language())
    return say.ofRun(day, n === newest && last !== '' ? `${state.toLowerCase()}, ${last}` : state.toLowerCase())
  }
  return (
    <div class="strip-of-runs">
      <div
        class="strip"
        role="slider"
        tabIndex={0}
        aria-label={say.runs(name)}
        aria-valuemin={1}
        aria-valuemax={runs.length}
        aria-valuenow={at + 1}
        aria-valuetext={sentence(at)}
        onKeyDown={(event) => {
          const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: newest }[event.key]
          if (event.key === 'Enter') return go(`/schedules/runs/${chosen.id}`)
          if (to === undefined) return
          event.preventDefault()
          choose(to)
        }}
        onPointerMove={({ target, currentTarget }) => {
          const over = target instanceof Element ? Array.from(currentTarget.children).indexOf(target) : -1
          if (over >= 0) choose(over)
        }}
        onPointerLeave={() => choose(newest)}
      >
        {runs.map((run, n) => (
          <i key={run.id} class={n === at ? `${run.state} chosen` : run.state} />
        ))}
      </div>
      <p class="small">
        <a class="said" href={`/schedules/runs/${chosen.id}`}>
          {sentence(at)}
        </a>
        {' · '}
        <a href={`/schedules/${id}?show=runs`} aria-label={say.run.historyOf(name)}>
          {say.run.history}
        </a>
      </p>
    </div>
  )
}
