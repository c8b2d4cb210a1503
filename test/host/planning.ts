import * as z from 'zod'
import { checkingAs } from './checking.ts'
import type { Caller } from './client.ts'
import type { rig } from './rig.ts'

type Rig = typeof rig
export type Place = 'host' | '101'

const Plan = z.looseObject({
  id: z.string(),
  hash: z.string(),
  actions: z.array(
    z.looseObject({
      name: z.string(),
      arch: z.string(),
      action: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      security: z.boolean(),
    }),
  ),
})
const Started = z.looseObject({ job_id: z.string() })
const Ended = z.looseObject({
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  plan_difference: z
    .array(z.object({ name: z.string(), planned: z.string().nullable(), found: z.string().nullable() }))
    .nullable(),
})

/** The plans of one caller on a host. */
export function planningAs(caller: Caller, on: Rig) {
  const { ended } = checkingAs(caller)
  const inside = (place: Place, script: string) => on('in', place, 'sh', '-c', script)
  return {
    async plan(target: string, selection: object = {}) {
      const { status, body } = await caller.post('/api/updates/plans', { target, ...selection })
      if (status !== 201) throw new Error(`${target} ${JSON.stringify(selection)}: ${status} ${JSON.stringify(body)}`)
      return Plan.parse(body)
    },
    async run(target: string, plan: string) {
      const { status, body } = await caller.post('/api/updates/run', { target, plan })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      const { job_id } = Started.parse(body)
      await ended(job_id)
      return Ended.parse((await caller.get(`/api/updates/jobs/${job_id}`)).body)
    },
    inside,
    /** The changes that dpkg has logged since the last call, as `action name from to`. */
    async done(place: Place) {
      const log = await inside(place, 'cat /var/log/dpkg.log 2>/dev/null; : >/var/log/dpkg.log')
      return log
        .split('\n')
        .flatMap((line) => {
          const [, , action = '', full = '', from, to] = line.split(' ')
          return /^(install|upgrade|remove)$/.test(action) ? [`${action} ${full.split(':')[0]} ${from} ${to}`] : []
        })
        .sort()
    },
    marks: async (place: Place) => (await inside(place, 'apt-mark showauto')).split('\n').filter((name) => name !== ''),
    /** The state of dpkg, and every file that a run could leave behind. */
    traces: (place: Place) =>
      inside(
        place,
        'sha256sum </var/lib/dpkg/status; ls -A /tmp /var/tmp /etc/apt /etc/apt/preferences.d /run/ops-panel-host 2>&1 | grep -v jobs',
      ),
  }
}

/** The changes of a plan as `done` has them. */
export const linesOf = ({ actions }: z.infer<typeof Plan>) =>
  actions.map(({ action, name, from, to }) => `${action} ${name} ${from ?? '<none>'} ${to ?? '<none>'}`).sort()
