import { go } from '../../router.ts'
import type { JobRecord } from '../../wire/job.ts'
import { selectionOf } from '../../wire/plans.ts'
import { mayOperate } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { useAct } from '../action.tsx'
import { Problem } from '../problem.tsx'
import { reviewPlan } from './open.ts'
import './style.ts'

/** Shows package by package how apt departed from the plan, and offers the way to a new plan. */
export function PlanDifference({ record }: { record: JobRecord }) {
  const say = words().plan.difference
  const { target, plan_difference: found, plan_id: former } = record
  const anew = useAct(async () => {
    const chosen = former === null ? undefined : await selectionOf(former)
    const job = await reviewPlan(target, chosen)
    if (job !== undefined) go(`/updates/${job}`)
  })
  return (
    <section class="difference" aria-label={say.title}>
      <div class="changes-bar">
        <h2 class="grow">{say.title}</h2>
        {mayOperate(target) && (
          <button type="button" class="button primary" aria-busy={anew.busy.value} onClick={() => void anew.run()}>
            {say.anew}
          </button>
        )}
      </div>
      <Problem error={anew.error.value} />
      {found && found.length > 0 && (
        <table aria-label={say.title}>
          <thead>
            <tr>
              <th scope="col">{say.name}</th>
              <th scope="col">{say.planned}</th>
              <th scope="col">{say.found}</th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ name, planned, found: instead }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td data-label={say.planned}>{changeOf(planned)}</td>
                <td data-label={say.found}>{changeOf(instead)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

/** A change that comes as `action from to`, with `-` for an absent version. */
function changeOf(text: string | null) {
  const { difference: say } = words().plan
  if (text === null) return <span class="dim">{say.none}</span>
  const [action = '', from = '-', to = '-'] = text.split(' ')
  const word = Object.entries(say.actions).find(([known]) => known === action)?.[1] ?? action
  return (
    <>
      {word} <span class="mono">{[from, to].filter((version) => version !== '-').join(' → ')}</span>
    </>
  )
}
