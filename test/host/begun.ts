import { openDatabase } from '../../db/libsql/client.ts'
import { findJob } from '../../db/jobs.ts'
import { inside } from './rig.ts'

const FOLDERS = '/var/log/rig-folders'

/** From now until the next reset, records every attempt to begin a job on the host: beginning makes its folder. */
export async function countFolders(): Promise<void> {
  await inside('host', COUNT)
}

/** Returns how often a job was begun, by the record of `countFolders`. */
export async function timesBegun(id: string, database: string): Promise<number> {
  return Number(await inside('host', `grep -c '${await jobFolder(id, database)}$' ${FOLDERS} || true`))
}

/** Returns the random name of a job's folder in `/var/tmp/ops-panel-jobs-…` on the host, read from the database. */
export async function jobFolder(id: string, database: string): Promise<string> {
  const db = await openDatabase(database)
  try {
    const name = (await findJob(db, id))?.folder
    if (!name) throw new Error(`job ${id} has no folder`)
    return name
  } finally {
    await db.close()
  }
}

const COUNT = `
printf '%s\\n' '#!/bin/sh' 'echo "$*" >>${FOLDERS}' 'exec /usr/bin/mkdir "$@"' >/usr/local/bin/mkdir
chmod 755 /usr/local/bin/mkdir
touch ${FOLDERS}
`
