import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { chownTo, exists, filePath, makeFolder } from '../platform/files.ts'
import { createSecrets, loadSecretKey, readSecretKey, secretKeyFile, type Secrets } from '../platform/secrets.ts'
import { openDatabase } from './libsql/client.ts'
import type { Database } from './libsql/database.ts'
import { expectOwn, expectOwnFile, ForeignDatabase } from './libsql/foreign.ts'
import { migrate, SCHEMA_VERSION, schemaVersion } from './migrate.ts'

/** The migrated database and the encryption of its secrets. */
export interface Storage {
  db: Database
  secrets: Secrets
}

/**
 * Opens the data folder, the secret key and the database of the configuration. Makes missing ones, and migrates the
 * database. Files that root makes in the folder of another account belong to that account.
 */
export async function openStorage(config: Config, clock: Clock): Promise<Storage> {
  const { dataDir, databaseUrl, databaseToken, secretKey } = config
  await makeFolder(dataDir).catch((cause: Error) => {
    throw new ConfigError(`PANEL_DATA_DIR : ${dataDir} ne peut pas être le dossier des données (${cause.message})`, {
      cause,
    })
  })
  await asConfigError(expectOwnFile(databaseUrl))
  const secrets = createSecrets(secretKey ?? (await loadSecretKey(dataDir)))
  const db = await openDatabase(databaseUrl, databaseToken)
  return closingOnFailure(db, async () => {
    await migrate(db, clock())
    await giveToFolderOwner(config)
    return { db, secrets }
  })
}

/**
 * Opens the data of a service that may be running. Throws a ConfigError when something is missing, or when the database
 * has another version, because only the service itself migrates it.
 */
export async function openExisting(config: Config): Promise<Storage> {
  await expectExisting(config)
  const { dataDir, databaseUrl, databaseToken, secretKey } = config
  const secrets = createSecrets(secretKey ?? (await readSecretKey(dataDir)))
  const db = await openDatabase(databaseUrl, databaseToken)
  return closingOnFailure(db, async () => {
    const version = await schemaVersion(db)
    if (version === 0) await asConfigError(expectOwn(db))
    if (version === 0) throw new ConfigError('la base est vide : le service la remplit à son premier démarrage.')
    if (version < SCHEMA_VERSION)
      throw new ConfigError(
        `la base est d’une version antérieure (${version}, et non ${SCHEMA_VERSION}) : le service la met à jour à son démarrage.`,
      )
    if (version > SCHEMA_VERSION)
      throw new ConfigError(`la base est d’une version plus récente (${version}) que ce programme (${SCHEMA_VERSION}).`)
    return { db, secrets }
  })
}

/**
 * Throws a ConfigError with the expected place when the database or its key is missing, and another one when the
 * database belongs to another program. Changes no file.
 */
export async function expectExisting({ dataDir, databaseUrl, secretKey }: Config): Promise<void> {
  const database = filePath(databaseUrl)
  if (database !== undefined && !(await exists(database)))
    throw new ConfigError(`aucune base de données : ${database}. Indiquez PANEL_DATA_DIR.`)
  await asConfigError(expectOwnFile(databaseUrl))
  const key = secretKeyFile(dataDir)
  if (secretKey === undefined && !(await exists(key)))
    throw new ConfigError(`aucune clé de chiffrement : ${key}. Indiquez PANEL_DATA_DIR ou PANEL_SECRET_KEY.`)
}

/** Turns a ForeignDatabase into a ConfigError, because the address of the database is configuration. */
async function asConfigError(check: Promise<void>): Promise<void> {
  await check.catch((cause: unknown) => {
    throw cause instanceof ForeignDatabase ? new ConfigError(`${cause.message}.`, { cause }) : cause
  })
}

async function giveToFolderOwner({ dataDir, databaseUrl, secretKey }: Config): Promise<void> {
  const owner = await stat(dataDir)
  const database = filePath(databaseUrl)
  const files = [
    ...(secretKey ? [] : [secretKeyFile(dataDir)]),
    // A database in another folder keeps the owner that its folder implies.
    ...(database && dirname(database) === dataDir ? [database, `${database}-wal`, `${database}-shm`] : []),
  ]
  for (const file of files) if (await exists(file)) await chownTo(file, owner)
}

async function closingOnFailure<result>(db: Database, work: () => Promise<result>): Promise<result> {
  try {
    return await work()
  } catch (error) {
    await db.close()
    throw error
  }
}
