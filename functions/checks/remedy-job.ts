import * as z from 'zod'
import { defineJob } from '../../jobs/jobs.ts'
import { helped } from '../../ssh/ssh.ts'
import { RemedyAction } from '../findings/finding.ts'
import { CONTAINER_TOOL, inContainer } from '../hypervisor/pct.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { fail } from '../services.ts'
import { LIST_UNFINISHED, parseUnfinished } from '../updates/apt.ts'
import { asRoot, inTarget } from '../updates/in-target.ts'
import { queueOf, UPDATE_EVENT } from '../updates/upgrade.ts'
import { ALLOW, CLEAN, HOLD, MANUAL, REPAIR, UNHOLD } from './remedy-scripts.ts'

/** The remedies that run as a job of their own, and the holds that a person sets or lifts without a finding. */
const JobAction = z.enum([
  ...RemedyAction.extract([
    'repair_dpkg',
    'allow_release_change',
    'lift_hold',
    'clean_cache',
    'start_container',
    'disable_auto_upgrades',
  ]).options,
  'hold',
  'unhold',
])
type JobAction = z.infer<typeof JobAction>

/** The arguments are the approved repositories, or the packages whose hold is set or lifted. */
const Args = z.object({ target: z.string(), action: JobAction, args: z.array(z.string()).default([]) })

/** The verb of the host helper and the script of each remedy that runs in its target. */
const SCRIPTS: Record<Exclude<JobAction, 'start_container'>, { verb: string; text: string }> = {
  repair_dpkg: { verb: 'repair', text: REPAIR },
  allow_release_change: { verb: 'allow', text: ALLOW },
  lift_hold: { verb: 'unhold', text: UNHOLD },
  clean_cache: { verb: 'clean', text: CLEAN },
  disable_auto_upgrades: { verb: 'manual', text: MANUAL },
  hold: { verb: 'hold', text: HOLD },
  unhold: { verb: 'unhold', text: UNHOLD },
}

/** Actions without dpkg, which therefore leave nothing unfinished. */
const NOT_DPKG: ReadonlySet<JobAction> = new Set(['start_container', 'clean_cache', 'disable_auto_upgrades'])

/** The job that applies the remedy of a finding. */
export const remedyJob = defineJob({
  kind: 'remedy',
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command({ target: text, action, args }, host) {
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: text } })
    const elevation = await elevationOf(host)
    if (action !== 'start_container') return inTarget(target, SCRIPTS[action], args, elevation)
    if (target.kind === 'host') throw fail('target_invalid', { values: { target: text } })
    if (elevation === 'helper') return helped(['start', target.id])
    return asRoot([CONTAINER_TOOL, 'start', target.id], elevation)
  },

  async leftovers({ target: text, action }, host, { ending }) {
    if (ending === 'lost') return undefined
    if (NOT_DPKG.has(action)) return []
    const target = parseTarget(text)
    const { code, stdout } =
      target?.kind === 'container'
        ? await host.exec(inContainer(target.id, LIST_UNFINISHED), {
            rights: 'command',
            verb: ['unfinished', target.id],
          })
        : await host.exec(LIST_UNFINISHED)
    const packages = code === 0 ? await parseUnfinished(stdout) : []
    return packages.length > 0 ? [`dpkg n’a pas fini : ${packages.join(', ')}.`] : []
  },
})
