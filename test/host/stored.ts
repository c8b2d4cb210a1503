import { openDatabase } from '../../db/libsql/client.ts'
import { readSettings } from '../../db/settings.ts'
import { findHostAccountByName } from '../../db/users.ts'
import { createSecrets, loadSecretKey } from '../../platform/secrets.ts'
import { type Canary, type Finding, search } from '../property/canaries.ts'
import { databaseFiles } from '../property/evidence.ts'
import { everyAnswer } from './client.ts'

/** Returns the settings in the database of a data folder, with the secrets decrypted by the folder's key. */
export async function storedSettings(folder: string): Promise<Record<string, string>> {
  const secrets = createSecrets(await loadSecretKey(folder))
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    const rows = [...(await readSettings(db))]
    return Object.fromEntries(
      rows.map(([key, value]) => [key, value.startsWith('v1.') ? secrets.open(key, value) : value]),
    )
  } finally {
    await db.close()
  }
}

/** Returns the role that the account's own connection claimed at its last sign-in, to prove that a forgery worked. */
export async function ownWord(folder: string, username: string): Promise<string | undefined> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    return (await findHostAccountByName(db, username))?.own_word
  } finally {
    await db.close()
  }
}

/**
 * Searches the database files, the logs and all answers so far for secrets, and returns the findings. Throws when one
 * of the three is nearly empty, or when the search misses a secret that is planted there.
 */
export async function leaks(
  folder: string,
  logs: string,
  canaries: readonly Canary[],
): Promise<(Finding & { in: string })[]> {
  const places = { database: await databaseFiles(folder), logs, answers: everyAnswer() }
  return Object.entries(places).flatMap(([name, place]) => {
    if (place.length < 1_000) throw new Error(`the ${name} is nearly empty`)
    for (const canary of canaries) {
      const planted = Buffer.concat([Buffer.from(place), canary.bytes])
      if (search(planted, [canary]).length === 0) throw new Error(`the search misses ${canary.name} in the ${name}`)
    }
    return search(place, canaries).map((found) => ({ in: name, ...found }))
  })
}
