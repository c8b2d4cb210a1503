import { onTestFinished } from 'vitest'
import { type DemoHost, type DemoHostOptions, startDemoHost } from '../../demo/host.ts'
import { createSettings } from '../../functions/services.ts'
import type { Config } from '../../platform/config.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import type { HostStream } from '../../ssh/channel.ts'
import { createHost } from '../../ssh/host.ts'
import { NOW, openMigrated } from '../db/database.ts'

/** An imitated host for the running test, fast unless told otherwise. */
export async function startDemo(options: DemoHostOptions = {}): Promise<DemoHost> {
  const demo = await startDemoHost({ lineMs: 0, wrongMs: 20, ...options })
  onTestFinished(() => demo.close())
  return demo
}

/** The service's host over the real settings, and its log. */
export async function hostOf(
  demo: DemoHost,
  ssh: Partial<Config['ssh']> = {},
  options: { asksPeople?: boolean; answeredMs?: number } = {},
) {
  const db = await openMigrated()
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const settings = createSettings({ db, secrets: createSecrets(Buffer.alloc(32, 7)), clock: () => new Date(NOW), log })
  const address = { host: `127.0.0.1:${demo.port}`, ...demo.service, hostKey: '' }
  await settings.fillSsh({ ...address, ...ssh })
  const host = createHost({ settings, log, ...options })
  onTestFinished(() => host.close())
  return { host, db, settings, log, lines }
}

/** Returns everything that a stream of the host prints. */
export async function textOf(read: HostStream['read']): Promise<string> {
  let text = ''
  await read((bytes) => {
    text += bytes.toString()
    return undefined
  })
  return text
}
