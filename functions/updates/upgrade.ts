import * as z from 'zod'
import { Failure } from '../../runtime/errors.ts'
import type { Host } from '../../runtime/host.ts'
import { defineJob } from '../../runtime/job-kind.ts'
import { type Scope, upgrade } from './apt.ts'
import { listContainers } from './containers.ts'
import { parseTarget } from './target.ts'

/** First word of an upgrade's topic and of its events. */
export const UPDATE_EVENT = 'update'

/** The job that upgrades one target. */
export const upgradeJob = defineJob({
  kind: 'upgrade',
  event: UPDATE_EVENT,
  args: z.object({ target: z.string() }),

  async command({ target }, host) {
    const scope = await scopeOf(target, host)
    // Where only single commands may be run as root, the script runs as the account and asks for each of them.
    return upgrade(scope, (await host.elevation()) === 'rule' ? 'sudo -n' : '')
  },
})

async function scopeOf(text: string, host: Host): Promise<Scope> {
  const target = parseTarget(text)
  if (!target) throw new Failure('target_invalid', { values: { target: text } })
  if (target.kind === 'host') return { scope: 'host' }
  if (target.kind === 'container') return { scope: 'container', id: target.id }
  const containers = await listContainers(host)
  return { scope: 'all', ids: containers.map(({ vmid }) => String(vmid)) }
}
