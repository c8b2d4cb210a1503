import { chmod, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { openDatabase } from '../../db/libsql/client.ts'
import { copyInto, inspectCopy } from '../../db/libsql/copy.ts'
import { expectExisting } from '../../db/storage.ts'
import { createFileAtomically, exists, filePath, linkAtomically, readIfExists, syncFile } from '../../platform/files.ts'
import { encodeKey, readSecretKey } from '../../platform/secrets.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'

/**
 * Copies the database into one file and the key of its secrets into a second file beside it, `<file>.key`. The two are
 * separate because both together reveal every secret. The service may run meanwhile, in an older version too; its
 * database is not changed.
 */
export default defineCommand({
  name: 'backup',
  summary: 'sauvegarder la base dans un fichier, et sa clé dans <fichier>.key, service en marche ou non',
  data: 'none',
  args: ['fichier'],

  async run({ args: [name = ''] }, { config }) {
    const { databaseUrl, dataDir, secretKey } = config
    if (filePath(databaseUrl) === undefined)
      throw new CommandError('la base est distante : sauvegardez-la avec les moyens de son serveur.')
    await expectExisting(config)
    const file = resolve(name)
    if (!(await exists(dirname(file)))) throw new CommandError(`il n’y a pas de dossier ${dirname(file)}.`)
    const key = encodeKey(secretKey ?? (await readSecretKey(dataDir)))
    const keyThere = await readIfExists(`${file}.key`)
    if (await exists(file)) throw new CommandError(`${file} existe déjà : rien n’a été écrasé.`)
    if (keyThere !== undefined && keyThere !== key)
      throw new CommandError(`${file}.key existe déjà : rien n’a été écrasé.`)

    const unfinished = `${file}.${process.pid}.part`
    try {
      await copyDatabase(databaseUrl, unfinished)
      if (keyThere === undefined) await createFileAtomically(`${file}.key`, key)
      await linkAtomically(unfinished, file).catch(async (error: unknown) => {
        if (keyThere === undefined) await rm(`${file}.key`, { force: true })
        throw error
      })
    } finally {
      for (const suffix of ['', '-journal']) await rm(`${unfinished}${suffix}`, { force: true })
    }
    return `Sauvegarde : ${file}\nClé des secrets : ${file}.key — gardez-la ailleurs que la sauvegarde.`
  },
})

async function copyDatabase(databaseUrl: string, file: string): Promise<void> {
  const db = await openDatabase(databaseUrl)
  try {
    await copyInto(db, file)
  } finally {
    await db.close()
  }
  await chmod(file, 0o600)
  await inspectCopy(file)
  await syncFile(file)
}
