import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Ending } from '../../nouns/ending.ts'
import { clock, duration } from '../../nouns/format.ts'
import { go } from '../../router.ts'
import { containers, readContainers } from '../../wire/containers.ts'
import type { JobRecord } from '../../wire/job.ts'
import { isAdmin } from '../../wire/panel.ts'
import { removeSnapshot } from '../../wire/protection.ts'
import { protectionWords } from './words.ts'
import { fromService, language, words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { confirm } from '../dialog.tsx'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { targetName } from '../target-name.ts'
import { Ago, now } from '../time.tsx'

/** The end of an upgrade after which something did not work, once there is nothing left to decide. */
export function Ended({ record, ending }: { record: JobRecord; ending: Exclude<Ending, 'broken'> }) {
  const say = protectionWords()
  const { shell } = words()
  const { target, snapshot, decided, outage_seconds: outage } = record
  const name = targetName(target)
  if (ending === 'stuck') return <Stuck record={record} />
  if (ending === 'kept')
    return (
      <div class="verdict">
        <Status is="warn" hidden />
        <p class="grow">
          {decided ? <Ago at={decided.at} say={(ago) => say.decided.kept(decided.by, ago)} /> : say.decided.policy}
        </p>
      </div>
    )
  const by = decided && <Ago at={decided.at} say={(ago) => say.decided.back(decided.by, ago)} />
  // The job of the rollback says how it ended.
  if (decided?.job_id)
    return (
      <div class="verdict">
        <Status is="back" hidden />
        <p class="grow">
          {by} <a href={`/updates/${decided.job_id}`}>{say.decided.see}</a>
        </p>
      </div>
    )
  return (
    <div class="verdict">
      <Status is="back" hidden />
      <p class="grow">
        {snapshot
          ? say.back.text(name, clock(Date.parse(snapshot.made_at), now.value, language()))
          : say.back.textNow(name)}{' '}
        {outage !== null && <b>{say.back.outage(duration(outage, shell.units))}</b>} {by}
      </p>
    </div>
  )
}

/** A failed rollback: the state of the container, and what to do on the host. */
function Stuck({ record }: { record: JobRecord }) {
  const say = protectionWords().stuck
  const vmid = record.target.slice('lxc:'.length)
  useEffect(() => void readContainers(), [])
  const status = containers.value?.find((each) => `${each.vmid}` === vmid)?.status
  const state = status === 'running' || status === 'stopped' ? status : undefined
  const back = record.snapshot ? [`pct rollback ${vmid} ${record.snapshot.name}`] : []
  return (
    <div class="verdict" role="alert">
      <Status is="err" hidden />
      <div class="grow">
        {record.reason !== null && <p class="mono anywhere">{fromService(record.reason)}</p>}
        <p>{say.state(state)}</p>
        <p>{say.todo}</p>
        <pre class="todo">{[`pct unlock ${vmid}`, ...back, `pct start ${vmid}`].join('\n')}</pre>
        {isAdmin.value && (
          <p>
            <a class="button" href="/terminal?target=host">
              {say.terminal}
            </a>
          </p>
        )}
      </div>
    </div>
  )
}

/** The snapshot that stays after an upgrade, which an administrator may remove. */
export function OwnSnapshot({ record, children }: { record: JobRecord; children: ComponentChildren }) {
  const protection = protectionWords()
  const say = protection.kept
  const { removing } = protection.page
  const { snapshot } = record
  const remove = useAct(async () => {
    if (!snapshot) return
    if (
      !(await confirm({ title: removing.title(snapshot.name), text: removing.text, verb: removing.verb, danger: true }))
    )
      return
    go(`/updates/${await removeSnapshot(record.job_id)}`)
  })
  if (!snapshot?.present) return null
  return (
    <section class="choice-card" aria-labelledby="own-snapshot">
      <h2 id="own-snapshot">{snapshot.kind === 'backup' ? say.titleBackup : say.title}</h2>
      <p class="dim">
        <span class="mono anywhere">{snapshot.name}</span>
        <br />
        {say.text(clock(Date.parse(snapshot.made_at), now.value, language()))}
      </p>
      <Problem error={remove.error.value} />
      {isAdmin.value && (
        <p class="buttons">
          {children}
          <Action act={remove}>{say.remove}</Action>
        </p>
      )}
    </section>
  )
}
