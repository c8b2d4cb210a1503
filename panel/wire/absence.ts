import { computed, effect, untracked } from '@preact/signals'
import type { Check } from '../nouns/checked.ts'
import { interruptedIn, standsOn } from '../nouns/impact.ts'
import { checks } from './checks.ts'
import { repeatFailed } from './connection.ts'
import { readContainers } from './containers.ts'
import { readHost } from './host.ts'
import { newestJobs, readJobs } from './jobs.ts'
import { api, me } from './panel.ts'

/** While the host reboots, it is asked this often whether it answers. */
const ASK_MS = 5_000

/** The reboot of the host that runs or waits. While the service is away, it is the last one that was known to. */
export const rebooting = computed(() =>
  newestJobs.value?.find(({ kind, status }) => kind === 'reboot' && status === 'running'),
)

/** Whether the panel goes away together with the host, as far as checks have found. */
export const goesWithHost = computed(() => standsOn(checks.value ?? []))

/**
 * The running job because of which the service or its host may be away: a reboot, an upgrade that changes what the panel
 * stands on, a restart of services there, or the return of its container to a snapshot.
 */
export const interruption = computed(() => {
  if (rebooting.value) return { why: 'reboot', target: 'host', job: rebooting.value.job_id } as const
  const under = (newestJobs.value ?? []).filter(({ status }) => status === 'running')
  for (const { kind, target, job_id: job } of under) {
    if (kind !== undefined && kind !== 'restart' && kind !== 'rollback') continue
    const about = (checks.value ?? []).filter((each) => each.target === target || target === 'all')
    const takes = (of: Check) => {
      if (kind === 'rollback') return standsOn([of])
      if (kind === 'restart') return of.services.some(({ interrupts }) => interrupts !== null && interrupts !== 'host')
      return (interruptedIn(of.findings) ?? 'host') !== 'host'
    }
    if (about.some(takes)) return { why: kind ?? 'upgrade', target, job } as const
  }
  return undefined
})

/** Asks for the reboot of the host with that name; returns the id of the job. */
export async function startReboot(name: string): Promise<string> {
  const { job_id } = await api('POST /api/hypervisor/host/reboot', { body: { confirm: name } })
  await readJobs()
  return job_id
}

const isRebooting = computed(() => rebooting.value !== undefined)
let timer: ReturnType<typeof setInterval> | undefined
let wasRebooting = false
effect(() => {
  clearInterval(timer)
  if (isRebooting.value) timer = setInterval(askHost, ASK_MS)
  // The pages that could not ask the host in the meantime ask again by themselves.
  else if (wasRebooting && me.peek())
    untracked(() => {
      readHost().catch(() => {})
      void readContainers()
      repeatFailed()
    })
  wasRebooting = isRebooting.value
})

function askHost(): void {
  if (me.peek() && !document.hidden) readHost().catch(() => {})
}
