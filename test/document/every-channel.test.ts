import { expect, test } from 'vitest'
import { sockets as declared } from '../../functions/index.ts'
import { rounds, seedOf } from '../rounds.ts'
import { readAsyncApi } from './asyncapi.ts'
import { startServedWorld } from './served-world.ts'
import { createSocketDriver } from './socket-driver.ts'

const seed = seedOf('test/document/every-channel.test.ts', 'whole')
/** Sockets for each channel. */
const runs = rounds(15, 60)
const TEST_MS = 60_000 + 2_000 * runs

/** A message that each channel must send, because a document that forbids every message would pass otherwise. */
const EXPECTED_MESSAGES: Readonly<Record<string, string>> = {
  '/ws/checks': 'checks_changed',
  '/ws/deployments/{id}': 'deployment',
  '/ws/terminal': 'output',
  '/ws/updates/{jobId}': 'update_done',
}

test('there is a channel for each socket', () => {
  expect(Object.keys(EXPECTED_MESSAGES)).toEqual(declared.map(({ path }) => path.replace(/:(\w+)/g, '{$1}')).sort())
})

test.each(Object.keys(EXPECTED_MESSAGES))(
  '%s sends only declared messages, and is closed only with declared codes',
  async (address) => {
    const { url, driver, given } = await startServedWorld()
    const asyncapi = readAsyncApi(await (await fetch(`${url}/api/asyncapi.json`)).json())
    const channel = asyncapi.channels.find((each) => each.address === address)
    if (!channel) throw new Error(`${address} is not in the served document`)
    await driver.explore({ valid: runs, broken: 1, seed })
    // A job must run while the driver listens.
    await driver.make('JobId', { valid: runs, broken: 1, seed })

    const sockets = createSocketDriver(url, asyncapi, { given, pool: driver.pool })

    const heard = await sockets.drive(channel, { runs, seed, until: EXPECTED_MESSAGES[address] })

    expect([...heard.messages.keys()]).toContain(EXPECTED_MESSAGES[address])
    expect(heard.codes.get(4401)).toBeGreaterThan(0)
  },
  TEST_MS,
)
