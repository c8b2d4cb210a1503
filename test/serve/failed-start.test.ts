import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { functions, jobKinds, sockets, tasks } from '../../functions/index.ts'
import { startServer } from '../../serve/server.ts'
import { temporaryFolder } from '../db/folder.ts'
import { freePort } from '../free-port.ts'
import { runProgram } from './program.ts'

test('a start that fails after listening frees the port, and runs no task', async () => {
  const folder = await temporaryFolder()
  const port = await freePort()
  let ran = 0
  const run = async () => {
    ran += 1
  }
  const task = { name: 'probe', every: 0, run }
  const start = () =>
    startServer(
      { PANEL_PORT: String(port), PANEL_DATA_DIR: folder, PANEL_LOG_LEVEL: 'silent' },
      { functions, sockets, jobKinds, tasks: [...tasks, task] },
    )
  await (await start()).stop()
  const before = ran
  const db = await openDatabase(`file:${folder}/panel.db`)
  await db.script('ALTER TABLE jobs RENAME TO jobs_elsewhere')

  await expect(start()).rejects.toThrow(/no such table/)

  await expect(fetch(`http://127.0.0.1:${port}/api/health`)).rejects.toThrow()
  expect(ran).toBe(before)
  await db.script('ALTER TABLE jobs_elsewhere RENAME TO jobs')
  await db.close()
  const { url, stop } = await start()
  expect((await fetch(`${url}/api/health`)).status).toBe(200)
  await stop()
})

test('a silent database server is reported as such, with the reason', async () => {
  const folder = await temporaryFolder()
  const url = `http://127.0.0.1:${await freePort()}`

  const { code, stderr } = await runProgram({ PANEL_DATA_DIR: folder, PANEL_PORT: '0', PANEL_DATABASE_URL: url })

  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^ops-panel : le service n’a pas pu démarrer : la base de données ne peut .*\(connect ECONNREFUSED .*\)\.\n$/,
  )
})

test('a damaged database is reported as such, with a remedy', async () => {
  const folder = await temporaryFolder()
  await writeFile(`${folder}/panel.db`, 'no database at all, whatever its name says\n'.repeat(500))

  const { code, stderr } = await runProgram({ PANEL_DATA_DIR: folder, PANEL_PORT: '0' })

  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^ops-panel : la base de données est endommagée \(.*SQLITE_NOTADB.*\)\. « doctor » .*« restore » .*\.\n$/,
  )
})
