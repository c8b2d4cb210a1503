import { resolve } from 'node:path'
import { filesOf, findModule, saveModule } from '../../db/modules.ts'
import { FILE_LIMITS, moduleFiles } from '../../modules/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { expectIdle } from '../modules/console-switch.ts'
import { auditStatement } from '../services.ts'
import { parseDescriptor } from './descriptor.ts'
import { readFolderFile } from './folder-file.ts'
import { namesOf, PAGE_TOO_LARGE, recordOf } from './installation.ts'

/** Installs a module from a folder that holds its repository. The service loads its code at the next start. */
export default defineCommand({
  name: 'modules install',
  summary: 'installer un module depuis un dossier (module.json, backend.mjs, fichiers de la page)',
  args: ['dossier'],

  async run({ args: [typed = ''] }, context) {
    const { db, clock, config } = context
    const folder = resolve(typed)
    const text = await contentOf(folder, 'module.json', FILE_LIMITS.descriptor)
    const parsed = parseDescriptor(text.toString())
    if ('reasons' in parsed) {
      const reasons = parsed.reasons.map(({ field, message }) => `  ${escapeControl(`${field} : ${message}`)}`)
      throw new CommandError(`module.json est invalide :\n${reasons.join('\n')}`)
    }
    const record = recordOf(parsed.descriptor, undefined)
    const { id, name, version, backend } = record
    if ((await findModule(db, id))?.is_core) throw new CommandError(`« ${id} » est le nom d’un module du panneau.`)
    await expectIdle(db, id)
    const files = moduleFiles(config.modulesDir, id)
    await files.cleanUp()
    const names = namesOf(record)
    if (names.length === 0) await files.putAside()
    else {
      const all = new Map([['module.json', text]])
      const most = (name: string) => (name === backend ? FILE_LIMITS.code : FILE_LIMITS.pageFile)
      for (const name of names) all.set(name, await contentOf(folder, name, most(name)))
      const ofPage = filesOf(record).reduce((sum, name) => sum + (all.get(name)?.length ?? 0), 0)
      if (ofPage > FILE_LIMITS.page) throw new CommandError(`${PAGE_TOO_LARGE}.`)
      await files.stage(all)
      await files.replace()
    }
    const note = { target: id, details: { version, folder } }
    const entry = auditStatement(context, atConsole(context.operator), 'module_installed', note)
    await db.batch([saveModule(record, timestamp(clock())), entry])
    await files.cleanUp()
    const restart = backend === null ? '' : ' Redémarrez le service pour qu’il charge son code.'
    return `Module « ${name} » ${version} installé.${restart}`
  },
})

async function contentOf(folder: string, name: string, most: number): Promise<Buffer> {
  const content = await readFolderFile(folder, name, most)
  if (typeof content === 'string') throw new CommandError(`${folder} : ${content}.`)
  return content
}
