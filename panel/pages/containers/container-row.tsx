import { bytes, duration, percent } from '../../nouns/format.ts'
import { outdatedIn } from '../../nouns/restarts.ts'
import { ContainerActions } from '../../parts/container-actions.tsx'
import { ContainerStatus } from '../../parts/container-status.tsx'
import { Spark } from '../../parts/spark.tsx'
import { checks } from '../../wire/checks.ts'
import { type Container, samples } from '../../wire/containers.ts'
import { running } from '../../wire/jobs.ts'
import { isOperator } from '../../wire/panel.ts'
import { asked } from '../../wire/tasks.ts'
import { language, words } from '../../words/words.ts'
import { TaskRow } from './task-row.tsx'

/** A container, and below it the progress of the last action on it. */
export function ContainerRow({ container, hasFigures }: { container: Container; hasFigures: boolean }) {
  const {
    containers: say,
    findings: { short },
    job: { titles },
    shell,
  } = words()
  const { vmid, name, cpu, cpus, mem, maxmem, disk, maxdisk, uptime, tags } = container
  const seen = samples.value.get(vmid) ?? []
  const task = asked.value.get(vmid)
  const job = running.value.find(
    ({ target }) => target === `lxc:${vmid}` || (target === 'all' && container.status === 'running'),
  )
  const check = container.status === 'running' && checks.value?.find(({ target }) => target === `lxc:${vmid}`)
  const outdated = check ? outdatedIn(check).length : 0
  const amount = (count: number | null) => (count === null ? '—' : bytes(count, shell.units.bytes, language()))
  const share = (used: number | null, all: number | null) =>
    used === null || !all ? '—' : percent(used / all, language())
  return (
    <>
      <tr>
        <th scope="row">
          <span class="who">
            <span class="named">
              <span class="cut" title={name}>
                {name}
              </span>{' '}
              <span class="dim num">{vmid}</span>
            </span>
            {tags?.map((tag) => (
              <span key={tag} class="tag cut" title={tag}>
                {tag}
              </span>
            ))}
            {job && (
              <a class="tag" href={`/updates/${job.job_id}`}>
                {titles[job.kind ?? 'upgrade']}
              </a>
            )}
            {!job && outdated > 0 && (
              <a class="tag" href={`/updates?open=lxc:${vmid}`}>
                {short.services_outdated(outdated, null)}
              </a>
            )}
          </span>
        </th>
        {hasFigures ? (
          <>
            <td class="state">
              <ContainerStatus of={container} />
            </td>
            <td class="cpu" data-label={say.cpu}>
              <span class="figure">
                <Spark values={seen.map((each) => each.cpu)} />
                <span class="num" title={cpus === null ? undefined : `× ${cpus}`}>
                  {cpu === null ? '—' : percent(cpu, language())}
                </span>
              </span>
            </td>
            <td class="memory" data-label={say.memory}>
              <span class="figure">
                <Spark values={seen.map((each) => each.mem)} />
                <span class="num" title={amount(maxmem)}>
                  {share(mem, maxmem)} <span class="dim wide">{amount(mem)}</span>
                </span>
              </span>
            </td>
            <td class="disk num nowrap" data-label={say.disk} title={amount(maxdisk)}>
              {share(disk, maxdisk)} <span class="dim amount">{amount(disk)}</span>
            </td>
            <td class={uptime ? 'uptime end nowrap' : 'uptime end none'} data-label={say.upSince}>
              {uptime ? duration(uptime, shell.units) : '—'}
            </td>
          </>
        ) : (
          <td class="state">
            <ContainerStatus of={container} />
          </td>
        )}
        {isOperator.value && (
          <td class="end act">
            <ContainerActions of={container} />
          </td>
        )}
      </tr>
      {task && <TaskRow vmid={vmid} name={name} asked={task} columns={hasFigures ? 6 : 3} />}
    </>
  )
}
