import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { duration, instant } from '../../nouns/format.ts'
import { type Run, runStatus } from '../../nouns/schedule.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useMore } from '../../parts/schedules/more.ts'
import { scheduleWords, tallySaid, whenOf } from '../../parts/schedules/words.ts'
import { Status } from '../../parts/status.tsx'
import { route } from '../../router.ts'
import { useLoad } from '../../wire/load.ts'
import { readRuns, RUNS_KEPT } from '../../wire/schedules.ts'
import { words } from '../../words/words.ts'

const EVERY_MS = 10_000

/** All runs of a schedule, newest first; older ones load on demand. `?show=runs` in the address leads here. */
export function History({ of: id, name }: { of: string; name: string }) {
  const { run: say } = scheduleWords()
  const heading = useRef<HTMLHeadingElement>(null)
  const older = useSignal<{ runs: readonly Run[]; next: string | null } | undefined>(undefined)
  const load = useLoad((signal) => readRuns(id, undefined, signal), [id], { everyMs: EVERY_MS })
  const newest = load.data.value
  const least = newest?.runs.at(-1)?.due_at ?? ''
  const listed = new Set(newest?.runs.map((each) => each.id))
  const all = [
    ...(newest?.runs ?? []),
    ...(older.value?.runs ?? []).filter((each) => !listed.has(each.id) && each.due_at <= least),
  ]
  const next = older.value ? older.value.next : (newest?.next ?? null)
  const more = useAct(async () => {
    if (next === null) return
    const found = await readRuns(id, next)
    // The runs that are here now stay below the first page as new ones come.
    older.value = { runs: [...all, ...found.runs], next: found.next }
  })
  const { more: showOlder, list } = useMore<HTMLOListElement>(more, all.length)
  const isKnown = newest !== undefined
  useEffect(() => {
    if (isKnown && route.peek()?.query.get('show') === 'runs') heading.current?.focus()
  }, [isKnown])
  return (
    <section class="run-history" aria-labelledby="run-history">
      <h2 id="run-history" tabIndex={-1} ref={heading}>
        {say.history}
      </h2>
      <Loaded of={load} rows={4}>
        {() =>
          all.length === 0 ? (
            <p class="empty">{say.noRuns}</p>
          ) : (
            <ol class="list" aria-label={say.historyOf(name)} ref={list}>
              {all.map((each) => (
                <Row key={each.id} of={each} />
              ))}
            </ol>
          )
        }
      </Loaded>
      <Problem error={more.error.value} retry={more.run} />
      {next !== null ? (
        <p class="below">
          <Action act={showOlder}>{say.older}</Action>
        </p>
      ) : (
        all.length >= RUNS_KEPT && <p class="dim small">{say.kept}</p>
      )}
    </section>
  )
}

function Row({ of: run }: { of: Run }) {
  const say = scheduleWords()
  const [from, to] = [instant(run.started_at), instant(run.finished_at)]
  const told = [
    tallySaid(run.waves),
    run.state === 'missed' ? say.run.missed(run.missed) : '',
    run.started_by === null ? '' : say.run.startedBy(run.started_by),
    from === undefined || to === undefined || run.state === 'missed'
      ? ''
      : say.run.took(duration((to - from) / 1_000, words().shell.units)),
  ].filter((each) => each !== '')
  return (
    <li>
      <Status is={runStatus(run)}>{say.states[run.state]}</Status>
      <span class="grow">
        <a href={`/schedules/runs/${run.id}`}>
          <time dateTime={run.due_at}>{whenOf(run.due_at)}</time>
        </a>
        {told.length > 0 && <span class="dim small reason">{told.join(' · ')}</span>}
      </span>
    </li>
  )
}
