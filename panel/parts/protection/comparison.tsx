import { useSignal } from '@preact/signals'
import { type Compared, comparedGroups, works } from '../../nouns/comparison.ts'
import { clock, instant } from '../../nouns/format.ts'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { detailOf, protectionWords, thingOf } from './words.ts'
import { language } from '../../words/words.ts'
import { Status } from '../status.tsx'
import { now } from '../time.tsx'

/** Everything that was compared, before and after the upgrade, the worst first. */
export function Comparison({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const say = protectionWords().comparison
  const showsAll = useSignal(false)
  const all = record.comparison ?? []
  if (record.comparison === null) return null
  const groups = comparedGroups(all)
  const worse = all.filter(({ state }) => state === 'worse')
  const shown = showsAll.value || worse.length === 0 ? groups : groups.filter(({ group }) => group === 'worse')
  const at = (phase: string) => instant(job.phases.value.find((each) => each.phase === phase)?.at)
  const titled = (word: string, when: number | undefined) =>
    when === undefined ? word : say.at(word, clock(when, now.value, language()))
  const choice = (isAll: boolean, word: string, count: number) => (
    <button type="button" aria-pressed={showsAll.value === isAll} onClick={() => (showsAll.value = isAll)}>
      {word} <span class="n num">{count}</span>
    </button>
  )
  return (
    <section aria-labelledby="compared">
      <div class="bar">
        <h2 id="compared">{say.title}</h2>
        {worse.length > 0 && (
          <fieldset class="seg" aria-label={say.show}>
            {choice(false, say.worseOnly, worse.length)}
            {choice(true, say.all, all.length)}
          </fieldset>
        )}
      </div>
      {all.length === 0 && <p class="empty">{say.none}</p>}
      {all.length > 0 && (
        <div class="compare">
          <table aria-labelledby="compared">
            <thead>
              <tr>
                <th scope="col">{say.what}</th>
                <th scope="col" class="look">
                  {titled(say.before, at('measuring'))}
                </th>
                <th scope="col" class="look">
                  {titled(say.after, at('comparing'))}
                </th>
              </tr>
            </thead>
            {shown.map(({ group, rows }) => (
              <tbody key={group}>
                <tr class="group">
                  <th colSpan={3} scope="rowgroup">
                    <b>{say.groups[group]}</b> <span class="num">{rows.length}</span>{' '}
                    {group === 'unsteady' && <span class="dim">{say.unsteadyHint}</span>}
                  </th>
                </tr>
                {rows.map((row) => (
                  <Row key={`${row.kind} ${row.name}`} row={row} />
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
    </section>
  )
}

const STATE = { worse: 'err', unsteady: 'warn', better: 'info', new: 'info', same: 'ok' } as const

function Row({ row }: { row: Compared }) {
  const { comparison: say } = protectionWords()
  const { kind, name } = thingOf(row)
  const isSame = row.state === 'same' && !works(row, 'after') && !works(row, 'before')
  return (
    <tr class="row">
      <td>
        <span class="thing" title={`${kind} ${name}`}>
          <Status is={isSame ? 'off' : STATE[row.state]} hidden>
            {say.groups[row.state === 'new' ? 'better' : row.state]}
          </Status>
          <span class="cut-two">
            {kind} <span class="dim">{name}</span>
          </span>
        </span>
      </td>
      {(['before', 'after'] as const).map((look) => (
        <td key={look} class="look">
          <span class="narrow dim small">{say[look]}</span>
          <Status is={works(row, look) ? 'ok' : row.state === 'worse' ? 'err' : 'off'}>{detailOf(row, look)}</Status>
        </td>
      ))}
    </tr>
  )
}
