import { open, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { exists, linkAtomically } from '../../platform/files.ts'
import { atConsole, writeAudit } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { exportEnd, ExportFormat, exportPieces } from './export-lines.ts'

/** Writes the whole audit log into a new file, which only its owner may read. */
export default defineCommand({
  name: 'audit export',
  summary: 'écrire le journal d’audit dans un fichier nouveau : .jsonl (JSON, une entrée par ligne) ou .csv',
  args: ['fichier'],

  async run({ args: [name = ''] }, context) {
    const { db, operator } = context
    const file = resolve(name)
    const format = ExportFormat.safeParse(/\.([a-z]+)$/.exec(file)?.[1]).data
    if (!format) throw new CommandError('le nom du fichier doit finir par .jsonl ou .csv.')
    if (!(await exists(dirname(file)))) throw new CommandError(`il n’y a pas de dossier ${dirname(file)}.`)
    if (await exists(file)) throw new CommandError(`${file} existe déjà : rien n’a été écrasé.`)
    const last = await exportEnd(db)
    await writeAudit(context, atConsole(operator), 'audit_exported', { details: { format, last } })
    const unfinished = `${file}.${process.pid}.part`
    try {
      const handle = await open(unfinished, 'wx', 0o600)
      try {
        for await (const piece of exportPieces(db, format, { last })) await handle.writeFile(piece)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await linkAtomically(unfinished, file)
    } finally {
      await rm(unfinished, { force: true })
    }
    return `Journal d’audit : ${file} (jusqu’à l’entrée ${last}).`
  },
})
