import { once } from 'node:events'
import type { ClientChannel } from 'ssh2'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createSshPool } from '../../ssh/pool.ts'
import { startDemo } from '../runtime/demo.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A pool of one connection whose eight channels are all taken by commands that do not end, with fake timers. */
async function full() {
  const demo = await startDemo()
  demo.override = (words) => (words[0] === 'wait' ? new Promise<number>(() => {}) : undefined)
  const account = { address: '', host: '127.0.0.1', port: demo.port, username: 'demo', password: 'demo', hostKey: '' }
  const pool = createSshPool(1, async () => {})
  onTestFinished(() => pool.close())
  const open = () => pool.open(account, ['wait'])
  const channels = await Promise.all(Array.from({ length: 8 }, open))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return { demo, pool, channels, open }
}

/** Resolves to the result of an attempt as soon as it is known. */
function watched(opening: Promise<ClientChannel>) {
  const state: { reason: unknown; opened: boolean } = { reason: undefined, opened: false }
  const settled = opening.then(
    (channel) => {
      state.opened = true
      channel.resume()
    },
    (reason: unknown) => {
      state.reason = reason
    },
  )
  return { state, settled }
}

async function end(channel: ClientChannel | undefined) {
  if (!channel) throw new Error('no channel')
  channel.resume()
  channel.stderr.resume()
  const closed = once(channel, 'close')
  channel.close()
  await closed
}

test('waiting for a slot fails after 15 s with a French message, for all waiters at once', async () => {
  const { open } = await full()
  const [one, two] = [watched(open()), watched(open())]

  await vi.advanceTimersByTimeAsync(14_999)
  expect([one.state.reason, two.state.reason]).toEqual([undefined, undefined])
  await vi.advanceTimersByTimeAsync(1)
  await Promise.all([one.settled, two.settled])

  for (const { state } of [one, two])
    expect(state).toMatchObject({
      opened: false,
      reason: {
        name: 'SshError',
        reason: 'refused',
        message: 'trop de commandes sont en cours sur l’hôte',
      },
    })
})

test('running commands continue, and a freed slot goes to the next waiter', async () => {
  const { demo, open, channels } = await full()
  const late = watched(open())
  await vi.advanceTimersByTimeAsync(15_000)
  await late.settled
  const waiting = watched(open())
  await vi.advanceTimersByTimeAsync(10_000)

  await end(channels[0])
  await waiting.settled

  expect(waiting.state).toEqual({ reason: undefined, opened: true })
  expect(late.state.opened).toBe(false)
  expect(channels.slice(1).every((channel) => !channel.closed)).toBe(true)
  expect(demo.connections).toBe(1)
})

test('slots go to waiters in their order of arrival', async () => {
  const { open, channels } = await full()
  const order: string[] = []
  const first = open().then(() => order.push('first'))
  const second = open().then(() => order.push('second'))

  await end(channels[0])
  await first
  expect(order).toEqual(['first'])
  await end(channels[1])
  await second

  expect(order).toEqual(['first', 'second'])
})

test('a given-up command that continues on the host takes no place for good', async () => {
  const { pool, open, channels } = await full()
  const waiting = watched(open())
  for (const channel of channels) pool.abandon(channel)
  const cut = Promise.all(channels.map((channel) => once(channel.resume(), 'close')))

  await vi.advanceTimersByTimeAsync(10_000)
  await waiting.settled
  await cut

  expect(waiting.state).toEqual({ reason: undefined, opened: true })
})

test('beside a given-up command the others of its connection run on, to their end', async () => {
  const { demo, pool, open, channels } = await full()
  const [kept, soon, ...given] = channels
  for (const channel of given) pool.abandon(channel)
  await vi.advanceTimersByTimeAsync(10_000)
  await open()
  expect(demo.connections).toBe(2)

  await end(given[0])
  await end(soon)
  expect(kept?.closed).toBe(false)

  const cut = Promise.all(given.slice(1).map((channel) => once(channel.resume(), 'close')))
  await end(kept)
  await cut
})

test('a given-up command that ends soon costs no connection', async () => {
  const { demo, pool, open, channels } = await full()
  for (const channel of channels) pool.abandon(channel)
  for (const channel of channels) await end(channel)

  await vi.advanceTimersByTimeAsync(10_000)
  await open()

  expect(demo.connections).toBe(1)
})

test('a stop of the service ends every wait at once', async () => {
  const { pool, open } = await full()
  const waiting = watched(open())
  await vi.advanceTimersByTimeAsync(1_000)

  pool.close()
  await waiting.settled

  expect(waiting.state).toMatchObject({ opened: false, reason: { name: 'SshError', reason: 'lost' } })
})
