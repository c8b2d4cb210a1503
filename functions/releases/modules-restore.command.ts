import { findModule, listModules, type ModuleRow } from '../../db/modules.ts'
import { moduleFiles } from '../../modules/modules.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { type CommandContext, CommandError, defineCommand } from '../../runtime/command.ts'
import { Failure } from '../../runtime/errors.ts'
import { expectIdle } from '../modules/console-switch.ts'
import { expectUnchanged, namesOf } from '../registry/installation.ts'
import type { ForgeAddress } from '../registry/forge.ts'
import { FORGE_ERRORS } from '../forge/codes.ts'
import { auditStatement, createSettings } from '../services.ts'
import { readRelease } from './release.ts'

/**
 * Fetches the files of modules again at exactly the commit on record, where the files in place are missing or come from
 * another commit, as after `restore`. A module that is named is fetched in any case. The service loads code at its next
 * start.
 */
export default defineCommand({
  name: 'modules restore',
  summary: 'récupérer sur la forge les fichiers des modules, au commit enregistré',
  args: ['module?'],

  async run({ args: [id] }, context) {
    const rows = id === undefined ? await listModules(context.db) : [await named(context, id)]
    const wanted = await damaged(context, rows, id !== undefined)
    if (wanted.length === 0) return 'Tous les modules ont les fichiers de leur commit.'
    const address = await createSettings(context).forge(context.config.forge)
    if (!address) throw new CommandError(FORGE_ERRORS.forge_missing[1])
    const lines: string[] = []
    let failed = false
    for (const row of wanted) {
      try {
        lines.push(await restored(context, address, row))
      } catch (error) {
        if (!(error instanceof Failure || error instanceof CommandError)) throw error
        failed = true
        const given = error instanceof Failure ? error.details : undefined
        const details = given?.map(({ field, message }) => `\n  ${field} : ${message}`) ?? []
        lines.push(escapeControl(`${row.id} : ${error.message}`) + details.map(escapeControl).join(''))
      }
    }
    const restart = wanted.some(({ backend }) => backend !== null)
    if (restart && !failed) lines.push('Redémarrez le service pour qu’il charge leur code.')
    return { text: lines.join('\n'), ok: !failed }
  },
})

async function named({ db }: CommandContext, id: string): Promise<ModuleRow> {
  const row = await findModule(db, id)
  if (!row || row.is_core) throw new CommandError(`il n’y a pas de module « ${id} » (ops-panel modules list).`)
  if (row.commit === null) throw new CommandError(`« ${id} » ne vient pas de la forge : « ops-panel modules install ».`)
  return row
}

async function damaged({ config }: CommandContext, rows: ModuleRow[], all: boolean): Promise<ModuleRow[]> {
  const found: ModuleRow[] = []
  for (const row of rows) {
    if (row.commit === null) continue
    const fault = await moduleFiles(config.modulesDir, row.id).fault({ names: namesOf(row), commit: row.commit })
    if (all || fault) found.push(row)
  }
  return found
}

async function restored(context: CommandContext, address: ForgeAddress, row: ModuleRow): Promise<string> {
  const { db, config, operator } = context
  const { id, version, commit, repository } = row
  await expectIdle(db, id)
  const choice = { commit: commit ?? '', pinned: true } as const
  const { descriptor, files, tag } = await readRelease(address, id, choice, row)
  await expectIdle(db, id)
  await expectUnchanged(db, id, row)
  const onDisk = moduleFiles(config.modulesDir, id)
  await onDisk.cleanUp()
  await onDisk.stage(new Map([['module.json', Buffer.from(JSON.stringify(descriptor))], ...files]), commit)
  await onDisk.replace()
  const details = { version, repository, commit, ...(tag !== undefined && { tag }) }
  await db.batch([auditStatement(context, atConsole(operator), 'module_installed', { target: id, details })])
  await onDisk.cleanUp()
  return `Module « ${id} » ${version} : fichiers du commit ${commit} remis en place.`
}
