import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newestLink } from '../../../db/access/audit-chain.ts'
import { addAuditEntry } from '../../../db/audit.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import { copyInto } from '../../../db/libsql/copy.ts'
import linkAudit from '../../../functions/audit/link-audit.task.ts'
import noteAudit from '../../../functions/audit/note-audit.task.ts'
import { readConfig } from '../../../platform/config.ts'
import { openStorage } from '../../../db/storage.ts'
import { START, testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { typeCommand } from '../console.ts'

const ENTRY = { action: 'logout', user_id: 7, username: 'bob', target: null, ip: '10.0.0.1', details: null }

/** An installation on disk with some entries, and the tasks of its service. */
async function start(entries = 3) {
  const dataDir = await temporaryFolder()
  const app = await testApp([])
  const config = readConfig({ PANEL_DATA_DIR: dataDir })
  const { db, secrets } = await openStorage(config, app.services.clock)
  const services = { ...app.services, db, config }
  const write = async (count: number) => {
    for (let n = 0; n < count; n++) await addAuditEntry(db, ENTRY, services.clock().toISOString())
  }
  await write(entries)
  return {
    db,
    dataDir,
    write,
    advance: app.advance,
    lines: app.lines,
    link: () => linkAudit.run(services),
    note: () => noteAudit.run(services),
    noted: async () => {
      const link = await newestLink(db)
      return `${link?.id}:${link?.hash}`
    },
    verify: (...words: string[]) => typeCommand({ ...services, secrets }, ['audit', 'verify', ...words]),
    /** Does as root on the machine could. */
    tamper: async (sql: string) => {
      await db.script(`DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_removed;
        DROP TRIGGER audit_links_are_never_removed; ${sql}`)
    },
    copy: async () => {
      const file = join(await temporaryFolder(), 'copy.db')
      await copyInto(db, file)
      return file
    },
  }
}

test('a sound log is told with its newest link', async () => {
  const app = await start()
  await app.link()
  await app.write(1)

  const { text, ok } = await app.verify()

  expect(ok).toBe(true)
  expect(text.split('\n')).toEqual([
    'Journal d’audit : 4 entrées.',
    'Liées et inchangées : 3.',
    `Dernier maillon, à noter ailleurs : ${await app.noted()}`,
    `Pas encore liées : 1, depuis ${START.toISOString()}.`,
    'Sans maillon noté, une fin coupée ou une chaîne refaite ne se voit pas : ops-panel audit verify <id:empreinte>.',
  ])
})

test('a changed entry fails the command and is named', async () => {
  const app = await start()
  await app.link()
  await app.tamper(`UPDATE audit SET username = 'eve' WHERE id = 2`)

  const { text, ok } = await app.verify()

  expect(ok).toBe(false)
  expect(text).toContain('L’entrée 2 n’est pas celle qui a été liée')
  expect(text).toContain('Liées et inchangées jusque-là : 1, jusqu’à 1:')
})

test('with a noted link, a tail that is gone without a trace fails the command', async () => {
  const app = await start()
  await app.link()
  const noted = await app.noted()
  const kept = await app.verify(noted)
  expect([kept.ok, kept.text.includes('Le maillon noté en fait partie')]).toEqual([true, true])
  await app.tamper(`DELETE FROM audit WHERE id = 3; DELETE FROM audit_links WHERE audit_id = 3;
    UPDATE sqlite_sequence SET seq = 2 WHERE name = 'audit'`)

  expect((await app.verify()).ok).toBe(true)
  const { text, ok } = await app.verify(noted)

  expect(ok).toBe(false)
  expect(text).toContain('Le maillon noté 3 n’existe plus')
})

test('links that are gone, and were not just missing, fail the command', async () => {
  const app = await start()
  await app.link()
  app.advance(3_600_000)
  await app.write(1)
  await app.tamper('DELETE FROM audit_links')

  const { text, ok } = await app.verify()

  expect(ok).toBe(false)
  expect(text).toContain('Pas encore liées : 4')
  expect(text).toContain('Elles ne sont donc pas vérifiées.')
})

test('a copy is checked in the place of the installation, and stays as it is', async () => {
  const app = await start()
  await app.link()
  const [noted, copy] = [await app.noted(), await app.copy()]
  await app.tamper('DELETE FROM audit WHERE id = 1')

  expect(await app.verify(copy)).toMatchObject({ ok: true })
  expect(await app.verify(noted, copy)).toMatchObject({ ok: true })
  expect(await app.verify(copy, noted)).toMatchObject({ ok: true })
  expect(await app.verify()).toMatchObject({ ok: false })
  const bad = await openDatabase(`file:${copy}`)
  await bad.script(`DROP TRIGGER audit_is_never_changed; UPDATE audit SET ip = '' WHERE id = 2`)
  await bad.close()
  expect(await app.verify(copy)).toMatchObject({ ok: false })
})

test('what is neither a link nor a copy is refused', async () => {
  const app = await start()
  const folder = await temporaryFolder()
  const file = join(folder, 'text.db')
  await writeFile(file, 'no database')

  await expect(app.verify('3:abc')).rejects.toThrow(/n’existe pas/)
  await expect(app.verify(file)).rejects.toThrow(/n’est pas une copie lisible/)
  await expect(app.verify(file, file)).rejects.toThrow(/il faut un maillon/)
})

test.each(['0:HASH', '3:HASH0', '3:XHASH', '3HASH', 'HASH', ':HASH', '03:HASH', 'x:HASH'])(
  'a link that is written wrong (%s) is told as such, not as a file',
  async (written) => {
    const app = await start()
    await app.link()
    const hash = (await app.noted()).replace(/^\d+:/, '')

    const wrong = written.replace('XHASH', hash.slice(1)).replace('HASH', hash)

    await expect(app.verify(wrong)).rejects.toThrow(/Un maillon s’écrit id:empreinte/)
    await expect(app.verify(wrong)).rejects.not.toThrow(/n’existe pas/)
  },
)

test('a link may be written in capitals', async () => {
  const app = await start()
  await app.link()

  const { text, ok } = await app.verify((await app.noted()).toUpperCase())

  expect(ok).toBe(true)
  expect(text).toContain('Le maillon noté en fait partie')
})

test('the newest link goes into the log of the service', async () => {
  const app = await start()
  await app.note()
  expect(app.lines().join()).not.toContain('newest link')
  await app.link()

  await app.note()

  expect(app.lines().join()).toContain(await app.noted())
})

test('a log of an earlier version is linked in bounded steps, ten thousand entries a run', async () => {
  const app = await start(0)
  await app.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10700)
     INSERT INTO audit (at, action, ip) SELECT ?, 'logout', i FROM n`,
    [START.toISOString()],
  )

  await app.link()
  expect((await newestLink(app.db))?.id).toBe(10_000)
  await app.link()

  expect((await newestLink(app.db))?.id).toBe(10_700)
  expect((await app.verify()).text).toContain('Liées et inchangées : 10700.')
})
