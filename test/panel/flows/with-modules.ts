import { openDatabase } from '../../../db/libsql/client.ts'
import { migrate } from '../../../db/migrate.ts'
import { type NewModule, saveModule } from '../../../db/modules.ts'
import { temporaryFolder as dataFolder } from '../../db/folder.ts'
import { NOW, record, temporaryFolder, writeFiles } from '../../functions/modules/module.ts'
import { started } from './started.ts'

interface Installed {
  code?: string
  /** The files of its page, the document first. */
  files?: Readonly<Record<string, string>>
  nav?: Partial<NewModule>
}

/** The whole service with these modules, an imitated host and the panel. */
export async function withModules(modules: Readonly<Record<string, Installed>>) {
  return started(await environmentWith(modules))
}

/** Installs modules for a service that is not started yet. Returns the settings with which it finds them. */
export async function environmentWith(modules: Readonly<Record<string, Installed>>): Promise<Record<string, string>> {
  const [data, folder] = [await dataFolder(), await temporaryFolder()]
  const db = await openDatabase(`file:${data}/panel.db`)
  await migrate(db, new Date(NOW))
  for (const [id, { code, files = {}, nav }] of Object.entries(modules)) {
    const more = {
      backend: code === undefined ? null : 'backend.mjs',
      files: JSON.stringify(Object.keys(files)),
      ...nav,
    }
    await db.batch([saveModule(record(id, { name: id, ...more }), NOW)])
    await writeFiles(`${folder}/${id}`, { ...files, ...(code !== undefined && { 'backend.mjs': code }) })
  }
  await db.close()
  return { PANEL_DATA_DIR: data, PANEL_MODULES_DIR: folder, PANEL_DEPLOYER: 'none' }
}
