import {
  createPanel,
  type Event,
  type FollowOptions,
  type FollowState,
  type Panel,
  type PanelOptions,
} from '../../client/index.ts'
import type { DemoHostOptions } from '../../demo/host.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { startProxy } from './cutting-proxy.ts'

/** The service behind a proxy, with an imitated host whose upgrades print a given output, and a signed-in client. */
export async function signedIn(
  options: Partial<PanelOptions> = {},
  env: Record<string, string> = {},
  host: DemoHostOptions = {},
) {
  const demo = await startDemo(host)
  const printed = controlledOutput(demo)
  const service = await startService(demo, env)
  const proxy = await startProxy(service.url)
  const panel = createPanel({ url: proxy.url, ...options })
  await panel.signIn('demo', 'demo')
  return { demo, printed, service, proxy, panel }
}

/** Starts an upgrade. */
export async function upgrade(panel: Panel): Promise<string> {
  return (await panel.api('POST /api/updates/run', { body: { target: 'host' } })).job_id
}

/** The whole output of a job, read from its endpoint. */
export async function outputOf(panel: Panel, id: string): Promise<string> {
  let text = ''
  for (let offset = 0; ; ) {
    const piece = await panel.api('GET /api/updates/jobs/{id}/output', { params: { id }, query: { offset } })
    text += piece.chunk
    offset = piece.next_offset
    if (piece.ended) return text
  }
}

/** Follows a job in the background and keeps all events. */
export function followed(panel: Panel, id: string, options: FollowOptions = {}) {
  const events: Event[] = []
  const states: FollowState[] = []
  let text = ''
  const run = async () => {
    const onState = (state: FollowState) => states.push(state)
    for await (const event of panel.follow(`update:${id}`, { onState, ...options })) {
      events.push(event)
      if (event.type === 'update_output') text += event.data.chunk
    }
  }
  return { events, states, text: () => text, ended: run() }
}
