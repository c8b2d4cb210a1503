import { Check, Terminal } from 'lucide'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { isAdmin } from '../../wire/panel.ts'
import { keepUpgrade } from '../../wire/protection.ts'
import { protectionWords } from './words.ts'
import { Action, useAct } from '../action.tsx'
import { Icon } from '../icon.tsx'
import { Problem } from '../problem.tsx'
import { NoWayBack, RollBack } from './roll-back.tsx'

interface DecisionProps {
  job: FollowedJob
  record: JobRecord
  /** The number of packages that the upgrade has changed, if it is known. */
  changes: number | undefined
}

/** The two choices after an upgrade after which something does not work: back to the snapshot, or keep it as it is. */
export function Decision({ job, record, changes }: DecisionProps) {
  const { snapshot } = record
  return (
    <div class="choices">
      {snapshot?.present ? (
        <RollBack record={record} snapshot={snapshot} changes={changes} />
      ) : (
        <NoWayBack record={record} />
      )}
      <Keep job={job} record={record} />
    </div>
  )
}

function Keep({ job, record }: Pick<DecisionProps, 'job' | 'record'>) {
  const say = protectionWords().keep
  const keep = useAct(async () => {
    await keepUpgrade(record.job_id)
    // The button disappears.
    document.querySelector<HTMLElement>('h1')?.focus()
    await job.reread()
  })
  return (
    <section class="choice-card" aria-labelledby="keep">
      <h2 id="keep">
        <Icon of={Check} />
        {say.title}
      </h2>
      <p class="dim">{say.text}</p>
      {record.snapshot?.present && <p class="dim">{say.stays}</p>}
      <Problem error={keep.error.value} />
      {isAdmin.value ? (
        <p class="buttons">
          <Action act={keep}>{say.verb}</Action>
          <a class="button" href={`/terminal?target=${record.target}`}>
            <Icon of={Terminal} />
            {say.terminal}
          </a>
        </p>
      ) : (
        <p class="dim">{say.forAdmins}</p>
      )}
    </section>
  )
}
