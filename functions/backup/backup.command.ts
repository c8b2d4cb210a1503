import { chmod, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { openDatabase } from '../../db/client.ts'
import { copyInto, inspectCopy } from '../../db/copy.ts'
import { filePath } from '../../db/file-url.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'
import { encodeKey, readSecretKey } from '../../runtime/secrets.ts'
import { expectExisting } from '../../runtime/storage.ts'
import { giveName, isThere, readIfThere, syncFile, writeNew } from '../../runtime/whole-file.ts'

/**
 * Copies the database into one file and the key of its secrets into another beside it, `<file>.key`: apart, because who
 * has both has every secret. The service may run meanwhile, also one of an older version, whose database stays as it is.
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
    if (!(await isThere(dirname(file)))) throw new CommandError(`il n’y a pas de dossier ${dirname(file)}.`)
    const key = encodeKey(secretKey ?? (await readSecretKey(dataDir)))
    const keyThere = await readIfThere(`${file}.key`)
    if (await isThere(file)) throw new CommandError(`${file} existe déjà : rien n’a été écrasé.`)
    if (keyThere !== undefined && keyThere !== key)
      throw new CommandError(`${file}.key existe déjà : rien n’a été écrasé.`)

    const unfinished = `${file}.${process.pid}.part`
    try {
      await copyDatabase(databaseUrl, unfinished)
      if (keyThere === undefined) await writeNew(`${file}.key`, key)
      await giveName(unfinished, file).catch(async (error: unknown) => {
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
