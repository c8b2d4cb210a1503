import { randomUUID } from 'node:crypto'
import { chmod, constants, copyFile, link, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { type Claim, claimFile, type Copy, inspectCopy, openCopy } from '../../db/libsql/copy.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'
import type { Config } from '../../platform/config.ts'
import {
  chownTo,
  exists,
  filePath,
  isCode,
  makeFolder,
  type Owner,
  readIfExists,
  replaceFileAtomically,
  syncFile,
  syncFolderOf,
} from '../../platform/files.ts'
import { createSecrets, decodeKey, encodeKey, secretKeyFile } from '../../platform/secrets.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'

/**
 * Replaces the database by a backup, and the key by the backup's key, while no service runs. Keeps the previous files
 * beside them under another name. An interruption at any moment leaves either the old or the new database in place, and
 * the command can be run again.
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
    if (!(await exists(backup))) throw new CommandError(`il n’y a pas de fichier ${backup}.`)
    await expectAlone(backup)
    const key = await keyOf(backup, config)
    await makeFolder(dataDir)
    await removeStaged(database, backup)
    const there = await exists(database)
    const owner = await stat(there ? database : dirname(database))
    const kept = `avant-${clock().toISOString().replaceAll(/[:.]/g, '-')}`

    const staged = `${database}${STAGED}${randomUUID()}`
    let modules = 0
    try {
      await stage(backup, staged, owner)
      await checkCopy(backup, staged, key)
      modules = await modulesOfForge(staged)
      await swap(staged, database, there ? `${database}.${kept}` : undefined)
    } finally {
      for (const suffix of ['', ...LOGS]) await rm(`${staged}${suffix}`, { force: true })
    }
    if (secretKey === undefined) await putKey(secretKeyFile(dataDir), key, { kept, owner })
    const lines = [`Restauré : ${database}`, ...(there ? [`L’ancienne base est gardée : ${database}.${kept}`] : [])]
    return [
      ...lines,
      ...(modules > 0 ? [MODULES] : []),
      'Les sessions et les jetons d’API d’alors valent de nouveau : « sessions end », « keys rotate --revoke » et « tokens revoke » y mettent fin.',
    ].join('\n')
  },
})

/** Returns the key that came with the backup, else the key in use. */
async function keyOf(backup: string, { secretKey, dataDir }: Config): Promise<Buffer> {
  const beside = await readIfExists(`${backup}.key`)
  const from = beside === undefined ? secretKeyFile(dataDir) : `${backup}.key`
  const text = beside ?? (secretKey ? encodeKey(secretKey) : await readIfExists(from))
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

/** Removes the staged files of an interrupted run. */
async function removeStaged(database: string, backup: string): Promise<void> {
  const folder = dirname(database)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (!path.startsWith(database) || !STAGED_NAME.test(path.slice(database.length))) continue
    if (path !== backup) await rm(path, { force: true })
  }
}

/** Suffixes of the files that SQLite keeps beside a database in use or after a crash. */
const LOGS = ['-wal', '-shm', '-journal']

/**
 * Refuses a backup with a log beside it: a copy of a live database keeps some of its rows there, and they would be
 * lost.
 */
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
  await chownTo(staged, owner)
  await syncFile(staged)
}

async function checkCopy(backup: string, staged: string, key: Buffer): Promise<void> {
  const { version, sealed } = await inspectCopy(staged).catch((cause: Error): never => {
    throw new CommandError(`${backup} n’est pas une sauvegarde entière (${cause.message}).`, { cause })
  })
  if (version > SCHEMA_VERSION)
    throw new CommandError(`${backup} vient d’une version plus récente : mettez d’abord ce programme à jour.`)
  // An earlier key may have sealed some secrets; the right key opens at least one.
  if (sealed.length > 0 && !opensAny(sealed, key))
    throw new CommandError(`la clé n’est pas celle de cette sauvegarde : elle n’en déchiffre aucun secret.`)
}

const MODULES =
  'Modules : la sauvegarde n’a pas leurs fichiers. « modules restore » récupère sur la forge ceux qui manquent ou ne sont pas du commit enregistré.'

/** Returns the number of modules that come from the forge. */
async function modulesOfForge(file: string): Promise<number> {
  const copy = await openCopy(file)
  try {
    // Copies of the earliest versions have no modules, or none from a forge.
    const there = `SELECT 1 FROM pragma_table_info('modules') WHERE name = 'commit'`
    if ((await copy.query(z.unknown(), there)).length === 0) return 0
    const sql = 'SELECT count(*) AS count FROM modules WHERE is_core = 0 AND "commit" IS NOT NULL'
    const [found] = await copy.query(z.object({ count: z.number() }), sql)
    return found?.count ?? 0
  } finally {
    await copy.close()
  }
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

/** The claim for a missing database: there is nothing to lock. */
const NOBODYS: Claim = { whole: true, release: async () => {} }

/** Replaces the database in one step. The old database stays in place until then. */
async function swap(staged: string, database: string, kept: string | undefined): Promise<void> {
  const claim = kept === undefined ? NOBODYS : await claimFile(database)
  if (!claim) throw new CommandError('un service utilise cette base : arrêtez-le, puis recommencez.')
  try {
    if (kept !== undefined) await keep(database, kept)
    // SQLite would apply old logs to the new database. The logs of a damaged database are kept, because they may help
    // to repair it.
    for (const log of LOGS) {
      if (!claim.whole && kept !== undefined && (await exists(`${database}${log}`)))
        await rename(`${database}${log}`, `${kept}${log}`)
      else await rm(`${database}${log}`, { force: true })
    }
    await rename(staged, database)
    await syncFolderOf(database)
  } finally {
    await claim.release()
  }
}

/**
 * Links the file under another name, or copies it where the file system has no hard links. Fails when the name exists,
 * and follows no symbolic link.
 */
async function keep(file: string, name: string): Promise<void> {
  try {
    await link(file, name)
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw error
    await copyFile(file, name, constants.COPYFILE_EXCL)
  }
}

async function putKey(file: string, key: Buffer, { kept, owner }: { kept: string; owner: Owner }): Promise<void> {
  const before = await readIfExists(file)
  if (before === encodeKey(key)) return
  if (before !== undefined) await keep(file, `${file}.${kept}`)
  await replaceFileAtomically(file, encodeKey(key), owner)
}
