import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../db/libsql/connection.ts'
import { temporaryFolder } from '../db/folder.ts'
import { runProgram } from './program.ts'

/** The programs may be slow on a busy machine. */
const LONG = 60_000

const SENTENCE =
  'a base est celle d’un autre programme (tables customers, invoices) : indiquez une autre PANEL_DATABASE_URL.\n'

/** A data folder with the database of another program, and the contents of its files. */
async function foreign(journal: 'DELETE' | 'WAL', { log = false } = {}) {
  const [made, folder] = [await temporaryFolder(), await temporaryFolder()]
  const connection = openConnection(join(made, 'panel.db'))
  connection.rows(`PRAGMA journal_mode = ${journal}`)
  connection.script('CREATE TABLE invoices (id INTEGER); CREATE TABLE customers (id INTEGER)')
  onTestFinished(() => connection.close())
  if (log) await cp(made, folder, { recursive: true })
  else connection.rows('PRAGMA wal_checkpoint(TRUNCATE)')
  await cp(join(made, 'panel.db'), join(folder, 'panel.db'))
  await writeFile(join(folder, 'secret.key'), Buffer.alloc(32, 9).toString('base64'))
  const files = async () => {
    // The index of a log is rebuilt by any reader.
    const names = (await readdir(folder)).filter((name) => !log || !name.endsWith('-shm')).sort()
    return Promise.all(names.map(async (name) => [name, (await readFile(join(folder, name))).toString('base64')]))
  }
  return { folder, files }
}

test.each([
  ['the start'],
  ['users', 'users'],
  ['settings get', 'settings', 'get'],
  ['modules list', 'modules', 'list'],
  ['setup', 'setup'],
  ['backup', 'backup', '/tmp/never-made.db'],
])(
  'a database of another program is reported and stays unchanged, byte for byte: %s',
  async (_, ...words) => {
    const { folder, files } = await foreign('DELETE')
    const before = await files()

    const { code, stdout, stderr } = await runProgram({ PANEL_DATA_DIR: folder }, ...words)

    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `ops-panel : l${SENTENCE}` })
    expect(await files()).toEqual(before)
  },
  LONG,
)

test(
  'doctor reports it too and leaves it unchanged',
  async () => {
    const { folder, files } = await foreign('DELETE')
    const before = await files()

    const { code, stdout } = await runProgram({ PANEL_DATA_DIR: folder }, 'doctor')

    expect(code).toBe(1)
    expect(stdout).toContain(`✗ L${SENTENCE}`)
    expect(await files()).toEqual(before)
  },
  LONG,
)

test.each([['the start'], ['users', 'users'], ['backup', 'backup', '/tmp/never-made.db']])(
  'no log is created next to a database without one: %s',
  async (_, ...words) => {
    const { folder, files } = await foreign('WAL')
    const before = await files()
    expect(before.map(([name]) => name)).toEqual(['panel.db', 'secret.key'])

    expect(await runProgram({ PANEL_DATA_DIR: folder }, ...words)).toMatchObject({
      code: 1,
      stderr: `ops-panel : l${SENTENCE}`,
    })

    expect(await files()).toEqual(before)
  },
  LONG,
)

test.each([['the start'], ['users', 'users']])(
  'the log that another program left next to its database is not applied to it: %s',
  async (_, ...words) => {
    const { folder, files } = await foreign('WAL', { log: true })
    const before = await files()
    expect(before.map(([name]) => name)).toContain('panel.db-wal')

    const { code, stderr } = await runProgram({ PANEL_DATA_DIR: folder }, ...words)

    expect({ code, stderr }).toEqual({ code: 1, stderr: `ops-panel : l${SENTENCE}` })
    expect(await files()).toEqual(before)
  },
  LONG,
)
