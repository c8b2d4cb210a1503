import { readSettings } from '../../db/settings.ts'
import { createSettings, type SettingKey } from '../../functions/services.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { NOW, openMigrated } from '../db/database.ts'

export const KEY = 'ssh-ed25519 SHA256:x'
export const FIRST = { ssh_host: 'pve', ssh_username: 'panel', ssh_password: 'secret', ssh_host_key: KEY }

/** Settings over a database in memory, and the changes that they announced. */
export async function place() {
  const db = await openMigrated()
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const secrets = createSecrets(Buffer.alloc(32, 7))
  const settings = createSettings({ db, secrets, clock: () => new Date(NOW), log })
  const announced: SettingKey[][] = []
  settings.onChange((keys) => announced.push([...keys].sort()))
  const stored = async () => Object.fromEntries(await readSettings(db))
  /** From now on the database refuses one key: earlier keys of the same write must not stay. */
  const refuse = (key: SettingKey) =>
    db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = '${key}'
               BEGIN SELECT raise(ABORT, 'refused'); END`)
  return { db, settings, secrets, log, lines, announced, stored, refuse }
}
