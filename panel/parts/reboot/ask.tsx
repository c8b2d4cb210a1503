import type { ComponentChildren } from 'preact'
import { ApiError } from '../../../client/index.ts'
import { go } from '../../router.ts'
import { goesWithHost, rebooting, startReboot } from '../../wire/absence.ts'
import { containers } from '../../wire/containers.ts'
import { host, hostAway, readHost } from '../../wire/host.ts'
import { running } from '../../wire/jobs.ts'
import { isAdmin } from '../../wire/panel.ts'
import { fromService, words } from '../../words/words.ts'
import { type Act, Action, useAct } from '../action.tsx'
import { confirm } from '../dialog.tsx'
import { Problem } from '../problem.tsx'

/** Asks before a reboot of the host, starts it, and shows its page. */
export function useReboot(): Act<[]> {
  return useAct(async () => {
    const { hostname, reboot_reasons: reasons } = host.peek() ?? (await readHost())
    refuseBesideJobs()
    const { reboot: say } = words()
    const text = (
      <>
        {reasons.length > 0 && <p>{say.reasons(reasonsSaid(reasons))}</p>}
        <Consequences />
      </>
    )
    if (!(await confirm({ title: say.title(hostname), text, verb: say.verb, danger: true, typed: hostname }))) return
    // Somebody else may have started it while the question was open.
    go(`/updates/${rebooting.peek()?.job_id ?? (await startReboot(hostname))}`)
  })
}

/** Fails as the service would, before somebody types the name of the host for nothing. */
function refuseBesideJobs(): void {
  const other = running.peek().find(({ kind }) => kind !== 'check')
  if (!other) return
  const failure = { message: '', status: 409, code: 'jobs_running', jobId: other.job_id }
  throw new ApiError('POST /api/hypervisor/host/reboot', failure)
}

/** The reasons of the host for a reboot, in one text; packages may ask for one without a name. */
export function reasonsSaid(reasons: readonly string[]): string {
  return reasons.length > 0 ? reasons.map(fromService).join(', ') : words().reboot.unnamed
}

/** Names in the question; the page of the containers has all. */
const NAMED = 5

/** Names everything that a reboot interrupts: the running containers, and the panel if it goes away with the host. */
function Consequences() {
  const { reboot: say, dashboard } = words()
  const runs = containers.value?.filter(({ status }) => status === 'running')
  const names = (runs ?? []).map(({ vmid, name }) => name || `${vmid}`)
  return (
    <>
      <p>
        {runs === undefined
          ? say.interruptsAll
          : say.interrupts(runs.length, dashboard.names(names.slice(0, NAMED), Math.max(0, names.length - NAMED)))}{' '}
        {runs?.length !== 0 && say.onboot}
      </p>
      {goesWithHost.value && <p>{say.self}</p>}
      <p>{say.alone}</p>
    </>
  )
}

interface RebootButtonProps {
  by: Act<[]>
  class?: string
}

/** The button that asks for a reboot, for administrators; the way to its page while the host reboots. */
export function RebootButton({ by, class: kind = 'small' }: RebootButtonProps) {
  const { reboot: say, updates } = words()
  const job = rebooting.value
  if (job)
    return (
      <a class={`button ${kind}`} href={`/updates/${job.job_id}`}>
        {say.follow}
      </a>
    )
  if (!isAdmin.value) return null
  return (
    <Action act={by} class={kind} blocked={hostAway.value ? updates.awayBlocks : undefined}>
      {say.verb}
    </Action>
  )
}

/** Why the host was not asked to reboot, with the way to the job that stands against it. */
export function RebootProblem({ error }: { error: unknown }): ComponentChildren {
  const job = error instanceof ApiError ? error.jobId : undefined
  return (
    <Problem error={error}>
      {job && (
        <a class="button small" href={`/updates/${job}`}>
          {words().reboot.seeJob}
        </a>
      )}
    </Problem>
  )
}
