import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { findJob } from '../../db/jobs.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { startDemo } from '../runtime/demo.ts'
import { frozenInstance } from './frozen-instance.ts'
import { functionClient, type Send } from './function-client.ts'
import { functionEnvironment } from './function-environment.ts'
import { beforeScript, outputOf, starts } from '../jobs/job-service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

/** Longer than a lease, and than the longest undetected freeze. */
const [LONG_MS, NOTICED_MS] = [11_000, 6_000]

/** A proxy to a port whose open connections can be made to swallow all data silently. */
async function relay(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    swallow() {
      for (const socket of sockets) socket.unpipe().resume()
    },
  }
}

async function world(scheme: 'http' | 'ws' = 'http') {
  const demo = await startDemo()
  const way = await relay(demo.port)
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const db = await openDatabase(server.url)
  const toDatabase = await relay(Number(new URL(server.url).port))
  onTestFinished(() => db.close())
  const env = {
    ...functionEnvironment(`${scheme}://127.0.0.1:${toDatabase.port}`, { ...demo, port: way.port }),
    PANEL_LOG_LEVEL: 'silent',
  }
  return {
    demo,
    db,
    ways: [way, toDatabase],
    output: controlledOutput(demo),
    instance: (by: 'fetch' | 'gateway') => frozenInstance(env, by),
  }
}

test.for([
  ['fetch', 'http', LONG_MS],
  ['gateway', 'ws', NOTICED_MS],
] as const)(
  'an instance by %s, with its database by %s, frozen between requests for %i ms and with dead connections, follows its job to the end',
  { timeout: 60_000 },
  async ([by, scheme, ms]) => {
    const { demo, db, ways, output, instance } = await world(scheme)
    const send = instance(by)
    const client = functionClient(async () => send)
    await client.signIn()
    const id = await client.start('lxc:101')
    expect(starts(demo)).toHaveLength(1)
    const followed = beforeScript(demo, 'follow')
    const poller = client.poller(id)
    output.print('un, é')
    await poller.poll()

    output.print('deux\n')
    for (const way of ways) way.swallow()
    await pause(ms)
    output.print('trois\n')
    await poller.poll()
    expect(poller.text()).toBe(output.text())

    // A short freeze: its connections and leases are still valid.
    output.print('quatre\n')
    await poller.poll()
    demo.cut()
    output.end()
    while (!poller.ended()) await poller.poll()

    expect(poller.text()).toBe('un, édeux\ntrois\nquatre\n')
    expect(await outputOf(db, id)).toBe(output.text())
    expect(await findJob(db, id)).toMatchObject({ status: 'success', epoch: 1 })
    expect(starts(demo)).toHaveLength(1)
    expect(followed()).toBeGreaterThanOrEqual(1)
  },
)

test('of two frozen instances the one that gets a request takes the job over, and the other releases it', {
  timeout: 90_000,
}, async () => {
  const { demo, db, output, instance } = await world()
  const [former, other] = [instance('gateway'), instance('fetch')]
  let asked: Send = former
  const client = functionClient(async () => asked)
  await client.signIn()
  const id = await client.start('lxc:101')
  const poller = client.poller(id)
  output.print('un\n')
  await poller.poll()
  expect(poller.text()).toBe('un\n')

  // The first instance finds this in its connection when it resumes, and must not store it again.
  output.print('deux\n')
  asked = other
  const polled = async () => {
    await poller.poll()
    return poller.text()
  }
  await expect.poll(polled, { timeout: 60_000, interval: 200 }).toBe(output.text())
  expect(await findJob(db, id)).toMatchObject({ status: 'running', epoch: 2 })

  output.print('trois\n')
  asked = former
  await poller.poll()
  expect(await findJob(db, id)).toMatchObject({ epoch: 2 })
  output.end()
  // Once is enough to wait for.
  await db.run('UPDATE jobs SET lease_until = 0')
  const ended = async () => {
    await poller.poll()
    return poller.ended()
  }
  await expect.poll(ended, { timeout: 60_000, interval: 200 }).toBe(true)

  expect(poller.text()).toBe('un\ndeux\ntrois\n')
  expect(await outputOf(db, id)).toBe(output.text())
  expect(await findJob(db, id)).toMatchObject({ status: 'success', epoch: 3 })
  expect(starts(demo)).toHaveLength(1)
})
