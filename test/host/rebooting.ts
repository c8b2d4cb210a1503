import { expect } from 'vitest'
import * as z from 'zod'
import type { Caller } from './client.ts'
import { inside, rig } from './rig.ts'

const Started = z.looseObject({ job_id: z.string() })
const Ended = z.looseObject({
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  warnings: z.array(z.string()),
  output: z.string(),
})

/** The longest reboot of the rig's host, with its containers, on a busy machine. */
const LONGEST_MS = 120_000

/** Returns the boot id of the rig's host. */
export const bootId = () => inside('host', 'cat /proc/sys/kernel/random/boot_id')

/** Returns the reboots that systemctl was asked for. */
export const rebootsAsked = async () => (await rig('reboots', 'log')).split('\n').filter((line) => line !== '')

/** The reboots of the rig's host that one administrator asks for. */
export function rebootingAs(caller: Caller) {
  const ask = (confirm = 'pve') => caller.post('/api/hypervisor/host/reboot', { confirm })
  const record = async (id: string) => Ended.parse((await caller.get(`/api/updates/jobs/${id}`)).body)
  return {
    ask,
    record,
    /** Asks for a reboot and returns the id of its job. */
    async begin() {
      const { status, body } = await ask()
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      return Started.parse(body).job_id
    },
    /** Waits for the end of the job, also while the service itself is away. */
    async ended(id: string) {
      const status = () =>
        record(id).then(
          (job) => job.status,
          () => 'away',
        )
      await expect.poll(status, { timeout: LONGEST_MS, interval: 200 }).toMatch(/^(success|error)$/)
      return record(id)
    },
    async output(id: string) {
      const { body } = await caller.get(`/api/updates/jobs/${id}/output?offset=0`)
      return z.looseObject({ chunk: z.string() }).parse(body).chunk
    },
  }
}
