import { randomUUID } from 'node:crypto'
import { chmod, constants, copyFile, link, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Claim, type Copy, claimFile, inspectCopy } from '../../db/copy.ts'
import { filePath } from '../../db/file-url.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'
import type { Config } from '../../runtime/config.ts'
import { createSecrets, decodeKey, encodeKey, secretKeyFile } from '../../runtime/secrets.ts'
import {
  giveTo,
  isCode,
  isThere,
  makeFolder,
  type Owner,
  readIfThere,
  replaceFile,
  syncFile,
  syncFolderOf,
} from '../../runtime/whole-file.ts'

/**
 * Puts a backup in the place of the database, and its key in the place of the key, while no service runs. What was there
 * before is kept beside, under another name. Whenever it is cut off, there is a database, the one or the other, and it
 * can be run again.
 */
export default defineCommand({
  name: 'restore',
  summary: 'remettre en place une sauvegarde et sa clé, service arrêté',
  data: 'none',
  args: ['fichier'],

  async run({ args: [name = ''] }, { config, clock }) {
    const { databaseUrl, dataDir, secretKey } = config
    const database = filePath(databaseUrl)
    if (database === undefined) throw new CommandError('la base est distante : restaurez-la sur son serveur.')
    const backup = resolve(name)
    if (!(await isThere(backup))) throw new CommandError(`il n’y a pas de fichier ${backup}.`)
    await expectAlone(backup)
    const key = await keyOf(backup, config)
    await makeFolder(dataDir)
    await removeStaged(database, backup)
    const there = await isThere(database)
    const owner = await stat(there ? database : dirname(database))
    const kept = `avant-${clock().toISOString().replaceAll(/[:.]/g, '-')}`

    const staged = `${database}${STAGED}${randomUUID()}`
    try {
      await stage(backup, staged, owner)
      await checkCopy(backup, staged, key)
      await swap(staged, database, there ? `${database}.${kept}` : undefined)
    } finally {
      for (const suffix of ['', ...LOGS]) await rm(`${staged}${suffix}`, { force: true })
    }
    if (secretKey === undefined) await putKey(secretKeyFile(dataDir), key, { kept, owner })
    const lines = [`Restauré : ${database}`, ...(there ? [`L’ancienne base est gardée : ${database}.${kept}`] : [])]
    return [
      ...lines,
      'Les sessions qui étaient ouvertes alors le sont de nouveau : « sessions end » et « keys rotate --revoke » y mettent fin.',
    ].join('\n')
  },
})

/** The key that came with the backup, else the one that is in force. */
async function keyOf(backup: string, { secretKey, dataDir }: Config): Promise<Buffer> {
  const beside = await readIfThere(`${backup}.key`)
  const from = beside === undefined ? secretKeyFile(dataDir) : `${backup}.key`
  const text = beside ?? (secretKey ? encodeKey(secretKey) : await readIfThere(from))
  if (text === undefined)
    throw new CommandError(`la clé des secrets manque : remettez ${backup}.key, ou indiquez PANEL_SECRET_KEY.`)
  const key = decodeKey(text)
  if (key.length !== 32) throw new CommandError(`${from} ne contient pas 32 octets en base64.`)
  if (secretKey && !secretKey.equals(key))
    throw new CommandError(
      `PANEL_SECRET_KEY n’est pas la clé de cette sauvegarde : donnez-lui celle de ${backup}.key, ou retirez-la.`,
    )
  return key
}

const STAGED = '.restore-'

const STAGED_NAME = /^\.restore-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-wal|-shm|-journal)?$/

/** What a run that was cut off left behind. */
async function removeStaged(database: string, backup: string): Promise<void> {
  const folder = dirname(database)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (!path.startsWith(database) || !STAGED_NAME.test(path.slice(database.length))) continue
    if (path !== backup) await rm(path, { force: true })
  }
}

/** What a database that is in use, or was cut off, keeps beside its file. */
const LOGS = ['-wal', '-shm', '-journal']

/** The copied files of a service hold part of their rows in a log, which would be left behind. */
async function expectAlone(backup: string): Promise<void> {
  for (const log of ['-wal', '-journal']) {
    const there = await stat(`${backup}${log}`).catch(() => undefined)
    if (there && there.size > 0)
      throw new CommandError(
        `${backup}${log} l’accompagne : c’est la base d’un service, pas une sauvegarde. Faites-en une avec « backup ».`,
      )
  }
}

async function stage(backup: string, staged: string, owner: Owner): Promise<void> {
  await copyFile(backup, staged, constants.COPYFILE_EXCL)
  await chmod(staged, 0o600)
  await giveTo(staged, owner)
  await syncFile(staged)
}

async function checkCopy(backup: string, staged: string, key: Buffer): Promise<void> {
  const { version, sealed } = await inspectCopy(staged).catch((cause: Error): never => {
    throw new CommandError(`${backup} n’est pas une sauvegarde entière (${cause.message}).`, { cause })
  })
  if (version > SCHEMA_VERSION)
    throw new CommandError(`${backup} vient d’une version plus récente : mettez d’abord ce programme à jour.`)
  // Some may have been sealed by a key from before; of the right one at least something is.
  if (sealed.length > 0 && !opensAny(sealed, key))
    throw new CommandError(`la clé n’est pas celle de cette sauvegarde : elle n’en déchiffre aucun secret.`)
}

function opensAny(sealed: Copy['sealed'], key: Buffer): boolean {
  const secrets = createSecrets(key)
  return sealed.some(({ name, value }) => {
    try {
      secrets.open(name, value)
      return true
    } catch {
      return false
    }
  })
}

/** Where there is no database yet, only what one left that is gone. */
const NOBODYS: Claim = { whole: true, release: async () => {} }

/** The old database keeps its place until the new one takes it, in one step. */
async function swap(staged: string, database: string, kept: string | undefined): Promise<void> {
  const claim = kept === undefined ? NOBODYS : await claimFile(database)
  if (!claim) throw new CommandError('un service utilise cette base : arrêtez-le, puis recommencez.')
  try {
    if (kept !== undefined) await keep(database, kept)
    // Beside another database they would be read as that one's. A broken one may be mended with them.
    for (const log of LOGS) {
      if (!claim.whole && kept !== undefined && (await isThere(`${database}${log}`)))
        await rename(`${database}${log}`, `${kept}${log}`)
      else await rm(`${database}${log}`, { force: true })
    }
    await rename(staged, database)
    await syncFolderOf(database)
  } finally {
    await claim.release()
  }
}

/** Where there are no links, a copy. Replaces nothing, and follows no link that was laid there. */
async function keep(file: string, name: string): Promise<void> {
  try {
    await link(file, name)
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw error
    await copyFile(file, name, constants.COPYFILE_EXCL)
  }
}

async function putKey(file: string, key: Buffer, { kept, owner }: { kept: string; owner: Owner }): Promise<void> {
  const before = await readIfThere(file)
  if (before === encodeKey(key)) return
  if (before !== undefined) await keep(file, `${file}.${kept}`)
  await replaceFile(file, encodeKey(key), owner)
}
