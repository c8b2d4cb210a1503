import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { saveModule } from '../../db/modules.ts'
import { functions } from '../../functions/index.ts'
import { type FakeHost, testApp } from '../app.ts'
import { record } from '../functions/modules/module.ts'

/** Returns the record of a module with code. */
export function moduleRecord(id: string, name = id) {
  return record(id, { name, description: `The module ${id}.`, backend: 'backend.mjs', nav_order: 0 })
}

/** Starts the service with these modules, each the text of its code by id. */
export async function appWithModules(modules: Readonly<Record<string, string>>, fake: FakeHost = {}) {
  const parent = await mkdtemp(join(tmpdir(), 'ops-panel-kit-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  // Its name makes vitest leave its files to Node's own import, which the service uses.
  const folder = join(parent, 'node_modules')
  for (const [id, source] of Object.entries(modules)) {
    await mkdir(join(folder, id), { recursive: true })
    await writeFile(join(folder, id, 'backend.mjs'), source)
  }
  const app = await testApp(functions, {
    fake,
    env: { PANEL_MODULES_DIR: folder },
    prepare: async (db) => {
      await db.batch(Object.keys(modules).map((id) => saveModule(moduleRecord(id), '2026-03-01T12:00:00.000Z')))
    },
  })
  onTestFinished(() => {
    app.services.modules.endTasks()
    app.services.modules.stop()
  })
  return app
}
