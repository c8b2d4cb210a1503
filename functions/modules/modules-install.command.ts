import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findModule, saveModule } from '../../db/modules.ts'
import { atConsole, auditStatement } from '../../runtime/audit.ts'
import { timestamp } from '../../runtime/clock.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'
import { moduleFiles } from '../../runtime/module-folder.ts'
import { visible } from '../../runtime/visible.ts'
import { parseDescriptor } from '../registry/descriptor.ts'
import { recordOf } from '../registry/installation.ts'
import { expectIdle } from './console-switch.ts'

/** Installs a module from a folder that holds its repository; its code is loaded at the next start of the service. */
export default defineCommand({
  name: 'modules install',
  summary: 'installer un module depuis un dossier (module.json, backend.mjs)',
  args: ['dossier'],

  async run({ args: [typed = ''] }, context) {
    const { db, clock, config } = context
    const folder = resolve(typed)
    const text = await contentOf(folder, 'module.json')
    const parsed = parseDescriptor(text.toString())
    if ('reasons' in parsed) {
      const reasons = parsed.reasons.map(({ field, message }) => `  ${visible(`${field} : ${message}`)}`)
      throw new CommandError(`module.json est invalide :\n${reasons.join('\n')}`)
    }
    const record = recordOf(parsed.descriptor, undefined)
    const { id, name, version, backend } = record
    if ((await findModule(db, id))?.is_core) throw new CommandError(`« ${id} » est le nom d’un module du panneau.`)
    await expectIdle(db, id)
    const files = moduleFiles(config.modulesDir, id)
    await files.settle()
    if (backend === null) await files.putAside()
    else {
      await files.lay(new Map([['module.json', text]]).set(backend, await contentOf(folder, backend)))
      await files.replace()
    }
    const note = { target: id, details: { version, folder } }
    const entry = auditStatement(context, atConsole(context.operator), 'module_installed', note)
    await db.batch([saveModule(record, timestamp(clock())), entry])
    await files.settle()
    const restart = backend === null ? '' : ' Redémarrez le service pour qu’il charge son code.'
    return `Module « ${name} » ${version} installé.${restart}`
  },
})

async function contentOf(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, name))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandError(`${join(folder, name)} ne peut pas être lu (${reason}).`)
  }
}
