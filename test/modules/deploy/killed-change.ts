/*
 * Runs one change of a module as a service would, and kills this process with SIGKILL before its Nth step: a call that
 * changes the disk, or a statement of the database. Writes the number of steps when it gets to the end.
 */

import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import * as z from 'zod'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { findModule, type NewModule, saveModule } from '../../../db/modules.ts'

const Asked = z.object({
  database: z.string(),
  folder: z.string(),
  owner: z.string(),
  version: z.string(),
  files: z.record(z.string(), z.string()),
  backend: z.string().nullable(),
  killAt: z.number(),
})
const asked = Asked.parse(JSON.parse(process.argv[2] ?? ''))

let steps = 0
function step(): void {
  steps += 1
  if (steps === asked.killAt) process.kill(process.pid, 'SIGKILL')
}

// Before the modules of the service are loaded: their imports are bound to these.
for (const name of ['mkdir', 'writeFile', 'rename', 'rm', 'chown', 'link', 'open'] as const) {
  const original = fs[name]
  const counted = async (...given: unknown[]): Promise<unknown> => {
    step()
    return Reflect.apply(original, fs, given)
  }
  Object.assign(fs, { [name]: counted })
}
syncBuiltinESMExports()

const { createDeployer } = await import('../../../modules/deploy/deployer.ts')
const { confirmDeployment, resumeDeployment } = await import('../../../modules/deploy/deployment.ts')
const { createHub } = await import('../../../platform/hub.ts')
const { createLog } = await import('../../../platform/log.ts')

const opened = await openDatabase(asked.database)
const db: Database = {
  ...opened,
  async batch(statements) {
    step()
    return opened.batch(statements)
  },
  async run(sql, args) {
    step()
    return opened.run(sql, args)
  },
}
const instance = { id: asked.owner, isGone: async () => false, runs: async (id: string) => id === asked.owner }
const { log } = createLog({ level: 'silent', write: () => {} })
const services = { db, folder: asked.folder, instance, hub: createHub(), clock: () => new Date(), log }

const { version, files, backend, folder } = asked
const record: NewModule = {
  id: 'wordy',
  name: 'Wordy',
  description: '',
  version,
  backend,
  nav_label: null,
  nav_icon: null,
  nav_href: null,
  nav_order: 100,
  repository: 'https://forge.example/wordy',
  commit: version,
  tag: null,
  files: JSON.stringify(Object.keys(files).filter((name) => name !== backend)),
}
const deployer = createDeployer({ ...services, folder }, async () => {
  // The successor, which serves with the change.
  const trial = await resumeDeployment(services)
  if (trial) await confirmDeployment(services, trial)
})
await deployer.begin({
  module: 'wordy',
  before: await findModule(db, 'wordy'),
  files: { all: new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])), commit: version },
  record: [saveModule(record, new Date().toISOString())],
  restart: backend !== null,
})
await deployer.idle()
await opened.close()
process.stdout.write(`${steps}`)
