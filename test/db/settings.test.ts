import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StorageError } from '../../db/client.ts'
import { readSettings, writeSettingOnce, writeSettings } from '../../db/settings.ts'
import { NOW, openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'

test('writes and overwrites values; the others stay', async () => {
  const db = await openMigrated()

  await writeSettings(db, { ssh_host: 'pve', ssh_username: 'panel' }, NOW)
  await writeSettings(db, { ssh_host: 'pve2' }, NOW)

  expect(await readSettings(db)).toEqual(
    new Map([
      ['ssh_host', 'pve2'],
      ['ssh_username', 'panel'],
    ]),
  )
})

test('writes all of the values or none', async () => {
  const db = await openMigrated()
  await writeSettings(db, { ssh_host: 'pve' }, NOW)
  await db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = 'ssh_password'
                   BEGIN SELECT raise(ABORT, 'refused'); END`)

  const values = { ssh_host: 'other', ssh_username: 'panel', ssh_password: 'x' }
  await expect(writeSettings(db, values, NOW)).rejects.toThrow(StorageError)

  expect(await readSettings(db)).toEqual(new Map([['ssh_host', 'pve']]))
})

test('writes once: where nothing or an empty value stands, never over another', async () => {
  const db = await openMigrated()
  await writeSettings(db, { empty: '' }, NOW)

  expect(await writeSettingOnce(db, 'absent', 'first', NOW)).toBe(true)
  expect(await writeSettingOnce(db, 'empty', 'first', NOW)).toBe(true)
  expect(await writeSettingOnce(db, 'absent', 'second', NOW)).toBe(false)
  expect(await writeSettingOnce(db, 'empty', 'second', NOW)).toBe(false)

  expect(Object.fromEntries(await readSettings(db))).toEqual({ absent: 'first', empty: 'first' })
})

test('of two processes that write once at the same time, one does', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const [one, two] = [await openMigrated(url), await openMigrated(url)]

  const written = await Promise.all([
    writeSettingOnce(one, 'ssh_host_key', 'key of one', NOW),
    writeSettingOnce(two, 'ssh_host_key', 'key of two', NOW),
  ])

  expect(written.filter(Boolean)).toHaveLength(1)
  const winner = written[0] ? 'key of one' : 'key of two'
  expect((await readSettings(one)).get('ssh_host_key')).toBe(winner)
})
