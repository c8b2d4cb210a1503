import * as z from 'zod'
import { upgrade } from '../functions/updates/apt.ts'
import { followJob, followNewJob } from './follow.ts'
import { withLocalFolder } from './host.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const CONTAINER = '101'

/**
 * Measures an upgrade of a container without protection, from the request to its last event, against a plain job that
 * runs the same command. The warm-up upgrades the packages, so that all rounds refresh the lists and find nothing.
 */
export function unprotectedRun(): Promise<Row[]> {
  return withLocalFolder(async () => {
    const panel = await startPanel()
    try {
      const { url, tokens } = panel
      const [token = ''] = tokens
      const [program, ...args] = upgrade({ scope: 'container', id: CONTAINER }, '')
      const times = await measure(
        { warmUp: 2, rounds: 15 },
        {
          plain: () => timeOf(() => followNewJob({ url, token, program, args })),
          ours: () => timeOf(() => runOf(panel)),
        },
      )
      return [compare('an unprotected upgrade / a plain job', { atMost: 1.1 }, 'ms', times('ours'), times('plain'))]
    } finally {
      await panel.stop()
    }
  })
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const Started = z.object({ job_id: z.string() })

/** Upgrades the container to the end. */
async function runOf({ url, tokens: [token = ''] }: Panel): Promise<void> {
  const response = await fetch(`${url}/api/updates/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target: `lxc:${CONTAINER}` }),
  })
  if (response.status !== 202) throw new Error(`the upgrade was refused: ${await response.text()}`)
  await followJob({ url, token }, Started.parse(await response.json()).job_id)
}
