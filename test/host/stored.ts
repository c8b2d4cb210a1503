import { openDatabase } from '../../db/libsql/client.ts'
import { readSettings } from '../../db/settings.ts'
import { findHostAccountByName } from '../../db/users.ts'
import { createSecrets, loadSecretKey } from '../../platform/secrets.ts'
import { type Canary, type Finding, search } from '../property/canaries.ts'
import { databaseFiles } from '../property/evidence.ts'
import { everyAnswer } from './client.ts'

/** The settings as they lie in the database of a data folder, the secrets opened with the folder's own key. */
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

/** What the account's own connection said of it at its last sign-in: without that, a forgery proves nothing. */
export async function ownWord(folder: string, username: string): Promise<string | undefined> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    return (await findHostAccountByName(db, username))?.own_word
  } finally {
    await db.close()
  }
}

/**
 * Where secrets are that must be nowhere: in the files of the database, in the logs, in any answer so far. Throws when one
 * of these would not be found there, or there is nothing to search.
 */
export async function leaks(
  folder: string,
  logs: string,
  canaries: readonly Canary[],
): Promise<(Finding & { in: string })[]> {
  const places = { database: await databaseFiles(folder), logs, answers: everyAnswer() }
  return Object.entries(places).flatMap(([name, place]) => {
    if (place.length < 1_000) throw new Error(`there is hardly anything in the ${name}`)
    for (const canary of canaries) {
      const slipped = Buffer.concat([Buffer.from(place), canary.bytes])
      if (search(slipped, [canary]).length === 0) throw new Error(`${canary.name} would not be found in the ${name}`)
    }
    return search(place, canaries).map((found) => ({ in: name, ...found }))
  })
}
