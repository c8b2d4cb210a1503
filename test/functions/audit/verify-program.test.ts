import { expect, test } from 'vitest'
import * as z from 'zod'
import { linkedHash, linkEntries, newestLink } from '../../../db/access/audit-chain.ts'
import { addAuditEntry } from '../../../db/audit.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { openStorage } from '../../../db/storage.ts'
import { readConfig } from '../../../platform/config.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { runProgram } from '../../serve/program.ts'

// Root of the machine changes the file of a database while no service runs; `ops-panel audit verify` is a program of its own.

const ENTRIES = 8
const AT = '2026-03-01T12:00:00.000Z'

const Entry = z.object({
  ...{ id: z.number(), at: z.string(), action: z.string(), user_id: z.number().nullable(), username: z.string() },
  ...{ target: z.string().nullable(), ip: z.string(), details: z.string().nullable() },
})

/** An installation with entries that all have their link, then changed. Returns the link that was noted before. */
async function changed(tamper: (db: Database) => Promise<void>): Promise<{ folder: string; noted: string }> {
  const folder = await temporaryFolder()
  const { db } = await openStorage(readConfig({ PANEL_DATA_DIR: folder }), () => new Date(AT))
  for (let n = 1; n <= ENTRIES; n += 1) {
    const entry = {
      action: 'update_start',
      user_id: n,
      username: `user-${n}`,
      target: 'host',
      ip: '10.0.0.1',
      details: '{}',
    }
    await addAuditEntry(db, entry, AT)
  }
  await linkEntries(db, 500, AT)
  const { id, hash } = z.object({ id: z.number(), hash: z.string() }).parse(await newestLink(db))
  await db.close()
  const file = await openDatabase(`file:${folder}/panel.db`)
  await file.script(`DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_removed;
    DROP TRIGGER audit_links_are_never_removed; DROP TRIGGER audit_links_are_never_changed`)
  await tamper(file)
  await file.close()
  return { folder, noted: `${id}:${hash}` }
}

const by = (sql: string) => (db: Database) => db.script(sql)

/** Writes every link anew, as somebody does who knows how the chain is made. */
async function relink(db: Database): Promise<void> {
  await db.script('DELETE FROM audit_links')
  let hash = '0'.repeat(64)
  for (const entry of await db.query(Entry, 'SELECT * FROM audit ORDER BY id')) {
    hash = linkedHash(hash, entry)
    await db.run('INSERT INTO audit_links (audit_id, hash) VALUES (?, ?)', [entry.id, hash])
  }
}

const COLUMNS = 'at, action, user_id, username, target, ip, details'
const INSERTED = `'${AT}', 'logout', 1, 'nobody', NULL, '10.0.0.9', NULL`
/** Gives the entries from 4 on the number behind theirs; the ids in between are out of the way. */
const MOVE = (table: string, id: string) =>
  `UPDATE ${table} SET ${id} = -${id} - 1 WHERE ${id} >= 4; UPDATE ${table} SET ${id} = -${id} WHERE ${id} < 0;`
const SEQUENCE = (of: number) => `UPDATE sqlite_sequence SET seq = ${of} WHERE name = 'audit';`

test.each<[change: string, tamper: (db: Database) => Promise<void>, told: RegExp]>([
  ['an entry is rewritten', by(`UPDATE audit SET details = '{"ok":1}' WHERE id = 4`), /L’entrée 4 n’est pas celle/],
  [
    'its text becomes bytes',
    by('UPDATE audit SET username = CAST(username AS BLOB) WHERE id = 4'),
    /L’entrée 4 n’est pas/,
  ],
  ['a name becomes nobody’s', by('UPDATE audit SET username = NULL WHERE id = 4'), /L’entrée 4 n’est pas celle/],
  [
    'two entries change places',
    by(
      'UPDATE audit SET id = -1 WHERE id = 4; UPDATE audit SET id = 4 WHERE id = 5; UPDATE audit SET id = 5 WHERE id = -1',
    ),
    /L’entrée 4 n’est pas celle/,
  ],
  ['an entry in the middle is deleted', by('DELETE FROM audit WHERE id = 4'), /L’entrée 4 manque/],
  [
    'so is its link',
    by('DELETE FROM audit WHERE id = 4; DELETE FROM audit_links WHERE audit_id = 4'),
    /L’entrée 4 manque/,
  ],
  ['a link alone is deleted', by('DELETE FROM audit_links WHERE audit_id = 4'), /Le maillon de l’entrée 4 manque/],
  [
    'an entry is inserted, and those behind it move',
    by(`${MOVE('audit', 'id')} INSERT INTO audit (id, ${COLUMNS}) VALUES (4, ${INSERTED})`),
    /L’entrée 4 n’est pas celle/,
  ],
  [
    'an entry is inserted, and those behind it move with their links',
    by(`${MOVE('audit', 'id')} ${MOVE('audit_links', 'audit_id')}
      INSERT INTO audit (id, ${COLUMNS}) VALUES (4, ${INSERTED})`),
    /Le maillon de l’entrée 4 manque/,
  ],
  [
    'an entry is inserted before all',
    by(`INSERT INTO audit (id, ${COLUMNS}) VALUES (0, ${INSERTED})`),
    /L’entrée 0 a été ajoutée/,
  ],
  [
    'one is inserted far behind',
    by(`INSERT INTO audit (id, ${COLUMNS}) VALUES (20, ${INSERTED})`),
    /L’entrée 9 manque/,
  ],
  [
    'a link is inserted behind all',
    by(`INSERT INTO audit_links (audit_id, hash) VALUES (9, '${'a'.repeat(64)}')`),
    /L’entrée 9 manque/,
  ],
  ['the tail is cut off', by('DELETE FROM audit WHERE id > 6'), /L’entrée 7 manque/],
  [
    'so are its links',
    by('DELETE FROM audit WHERE id > 6; DELETE FROM audit_links WHERE audit_id > 6'),
    /L’entrée 7 manque/,
  ],
  [
    'so is the trace of the ids, and the links stay',
    by(`DELETE FROM audit WHERE id > 6; ${SEQUENCE(6)}`),
    /L’entrée 7 manque/,
  ],
  ['the old part is removed, as a retention does', by('DELETE FROM audit WHERE id < 5'), /L’entrée 1 manque/],
  [
    'so are its links, and the others are written anew',
    async (db) => {
      await db.script('DELETE FROM audit WHERE id < 5')
      await relink(db)
    },
    /L’entrée 1 manque/,
  ],
  ['everything is removed', by('DELETE FROM audit; DELETE FROM audit_links'), /L’entrée 1 manque/],
])('%s: the program says so, and its status is not 0, with and without a noted link', async (_, tamper, told) => {
  const { folder, noted } = await changed(tamper)

  for (const words of [[], [noted]]) {
    const { code, stdout } = await runProgram({ PANEL_DATA_DIR: folder }, 'audit', 'verify', ...words)
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(told) })
  }
})

const NOTED_MISSING = /Le maillon noté 8 n’existe plus/
const NOTED_DIFFERS = /Le maillon 8 n’est pas celui qui a été noté/

test.each<[change: string, tamper: (db: Database) => Promise<void>, told: RegExp]>([
  [
    'the tail is cut off without a trace',
    by(`DELETE FROM audit WHERE id > 6; DELETE FROM audit_links WHERE audit_id > 6; ${SEQUENCE(6)}`),
    NOTED_MISSING,
  ],
  [
    'everything is removed without a trace',
    by(`DELETE FROM audit; DELETE FROM audit_links; ${SEQUENCE(0)}`),
    NOTED_MISSING,
  ],
  [
    'the last links are removed, and their entries rewritten',
    by(`DELETE FROM audit_links WHERE audit_id > 6; UPDATE audit SET username = 'nobody' WHERE id = 7`),
    NOTED_MISSING,
  ],
  [
    'an entry is rewritten, and the chain is made anew',
    async (db) => {
      await db.script(`UPDATE audit SET username = 'nobody' WHERE id = 2`)
      await relink(db)
    },
    NOTED_DIFFERS,
  ],
  [
    'an entry is inserted, one is left out, and the chain is made anew',
    async (db) => {
      await db.script(`DELETE FROM audit WHERE id = 2; INSERT INTO audit (id, ${COLUMNS}) VALUES (2, ${INSERTED})`)
      await relink(db)
    },
    NOTED_DIFFERS,
  ],
])('%s: the program says that it cannot know, and knows by a noted link', async (_, tamper, told) => {
  const { folder, noted } = await changed(tamper)
  const run = (...words: string[]) => runProgram({ PANEL_DATA_DIR: folder }, 'audit', 'verify', ...words)

  const alone = await run()
  const withNoted = await run(noted)

  expect(alone).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Sans maillon noté, une fin coupée ou une chaîne refaite ne se voit pas'),
  })
  expect(withNoted).toMatchObject({ code: 1, stdout: expect.stringMatching(told) })
  expect(withNoted.stdout).not.toContain('rien n’a été retiré ni refait')
})

test('an unchanged log has the status 0 with the link that was noted, and not with another one', async () => {
  const { folder, noted } = await changed(async () => {})
  const run = (...words: string[]) => runProgram({ PANEL_DATA_DIR: folder }, 'audit', 'verify', ...words)

  expect(await run(noted)).toMatchObject({ code: 0, stdout: expect.stringContaining('rien n’a été retiré ni refait') })
  expect(await run(`8:${'b'.repeat(64)}`)).toMatchObject({ code: 1, stdout: expect.stringMatching(NOTED_DIFFERS) })
  expect(await run(noted.replace('8:', '9:'))).toMatchObject({ code: 1 })
  expect((await run('8:abc')).code).not.toBe(0)
})
