import * as z from 'zod'
import { defineJob } from '../../jobs/jobs.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { fail } from '../services.ts'
import { inTarget } from '../updates/in-target.ts'
import { queueOf, UPDATE_EVENT } from '../updates/upgrade.ts'
import { NOT_ALLOWED, RESTART } from './restart-script.ts'

const Args = z.object({ target: z.string(), services: z.array(z.string()) })

/** The job that restarts services of one target. The check that follows it tells whether they run the new code. */
export const restartJob = defineJob({
  kind: 'restart',
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command({ target: text, services }, host) {
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: text } })
    return inTarget(target, { verb: 'restart', text: RESTART }, services, await elevationOf(host))
  },

  async result({ target }, { code, cancelled }) {
    // In a container no sudo rule matters, and its programs choose the code.
    if (code !== NOT_ALLOWED || target !== 'host' || cancelled) return []
    const { message, code: error } = fail('systemctl_not_allowed')
    return { statements: [], failure: { message, code: error } }
  },
})
