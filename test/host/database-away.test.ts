import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createClient, type Transaction } from '@libsql/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LibsqlServer, startLibsqlServer } from '../libsql-server.ts'
import { countFolders } from './begun.ts'
import { type Caller, signIn } from './client.ts'
import { runJob, startFollowed } from './job.ts'
import { throughOutage } from './outage.ts'
import { rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'

const cleanUp: (() => unknown)[] = []

beforeAll(async () => {
  await rig('reset')
  await countFolders()
  await rig('slow', '800', '50')
  // This upgrade ends while the database is away.
  await rig('slow', '250', '50', '102')
})
afterAll(async () => {
  for (const step of cleanUp.reverse()) await step()
})

test.concurrent('a job loses no byte while its database server is killed for 30 s', async () => {
  const { server, service, bob } = await withServer()
  await throughOutage({
    service,
    bob,
    place: '101',
    begin: server.kill,
    end: server.start,
    async meanwhile({ id }) {
      await expectNoCancel(bob, id)
      // A service manager restarts it until there is a database.
      await expect(startService({ env: sharing(server) })).rejects.toThrow(
        'la base de données ne peut pas être utilisée (connect ECONNREFUSED',
      )
    },
  })
})

test.concurrent('a job that ends while its database server does not answer for 30 s loses no byte', async () => {
  const { server, service, bob } = await withServer()
  await throughOutage({
    service,
    bob,
    place: '102',
    begin: () => server.freeze(true),
    end: () => server.freeze(false),
    async meanwhile() {
      await expect(startService({ env: sharing(server) })).rejects.toThrow(
        'la base de données ne peut pas être utilisée (',
      )
    },
  })
})

test.concurrent('a job loses no byte while another program locks the database file for 30 s', async () => {
  const service = await startService()
  cleanUp.push(service.stop)
  // Waits for the lock, because the service may be writing.
  const other = createClient({ url: `file:${service.folder}/panel.db`, timeout: 5_000 })
  cleanUp.push(() => other.close())
  let lock: Transaction | undefined
  const bob = await signIn(service, 'bob')
  await throughOutage({
    service,
    bob,
    place: 'host',
    readable: true,
    async begin() {
      lock = await other.transaction('write')
    },
    end: async () => lock?.rollback(),
    meanwhile: ({ id }) => expectNoCancel(bob, id),
  })
})

test.concurrent('a job whose kind went with its module ends with that cause, and the next job runs', async () => {
  const folder = await newFolder()
  cleanUp.push(() => rm(folder, { recursive: true, force: true }))
  const before = await startService({ folder })
  const bob = await signIn(before, 'bob')
  const { id } = await runJob(bob, 'lxc:998')
  await before.stop()
  const db = createClient({ url: `file:${folder}/panel.db`, timeout: 5_000 })
  cleanUp.push(() => db.close())
  await db.execute({
    sql: `UPDATE jobs SET kind = 'gone', status = 'running', finished_at = NULL, owner = NULL, lease_until = 0 WHERE id = ?`,
    args: [id],
  })

  const after = await startService({ folder })
  cleanUp.push(after.stop)
  const next = await startFollowed(await signIn(after, 'bob'), 'lxc:998')

  expect(await next.closed).toBe(1000)
  expect(next.output()).toContain(`En attente de la fin de la tâche ${id}`)
  expect(next.frames.at(-1)).toMatchObject({ type: 'update_done' })
  const { rows } = await db.execute({ sql: 'SELECT status, error_code, error FROM jobs WHERE id = ?', args: [id] })
  expect(rows[0]).toMatchObject({
    status: 'error',
    error_code: 'job_kind_missing',
    error: expect.stringContaining('ne connaît plus ce type de tâche (gone)'),
  })
})

/** Expects that a cancel is refused because it cannot be stored; the job goes on. */
async function expectNoCancel(bob: Caller, id: string): Promise<void> {
  const { status, body } = await bob.post(`/api/updates/jobs/${id}/cancel`, {})
  expect({ status, body }).toMatchObject({ status: 500, body: { code: 'storage_failed' } })
}

const KEY = randomBytes(32).toString('base64')

function sharing({ url }: LibsqlServer): Record<string, string> {
  return { PANEL_DATABASE_URL: url, PANEL_SECRET_KEY: KEY }
}

async function withServer(): Promise<{ server: LibsqlServer; service: Service; bob: Caller }> {
  const server = await startLibsqlServer()
  cleanUp.push(server.stop)
  const service = await startService({ env: sharing(server) })
  cleanUp.push(service.stop)
  return { server, service, bob: await signIn(service, 'bob') }
}
