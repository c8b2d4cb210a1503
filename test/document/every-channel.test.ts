import { expect, test } from 'vitest'
import { sockets as declared } from '../../functions/index.ts'
import { rounds, seedOf } from '../rounds.ts'
import { readAsyncApi } from './asyncapi.ts'
import { startServedWorld } from './served-world.ts'
import { createSocketDriver } from './socket-driver.ts'

const seed = seedOf('test/document/every-channel.test.ts')
/** Sockets for each channel. */
const runs = rounds(15, 60)
const TEST_MS = 60_000 + 2_000 * runs

/** What each must have said, so that it is known to have been heard: a document that forbids everything is no help. */
const SAYS: Readonly<Record<string, string>> = {
  '/ws/deployments/{id}': 'deployment',
  '/ws/terminal': 'output',
  '/ws/updates/{jobId}': 'update_done',
}

test('there is a channel for each socket', () => {
  expect(Object.keys(SAYS)).toEqual(declared.map(({ path }) => path.replace(/:(\w+)/g, '{$1}')).sort())
})

test.each(Object.keys(SAYS))(
  '%s says nothing but what its document declares, and is closed only as it declares',
  async (address) => {
    const { url, driver, given } = await startServedWorld()
    const asyncapi = readAsyncApi(await (await fetch(`${url}/api/asyncapi.json`)).json())
    const channel = asyncapi.channels.find((each) => each.address === address)
    if (!channel) throw new Error(`${address} is not in the served document`)
    await driver.explore({ valid: runs, broken: 1, seed })
    // Something that goes on while it is listened to.
    await driver.make('JobId', { valid: runs, broken: 1, seed })

    const sockets = createSocketDriver(url, asyncapi, { given, pool: driver.pool })

    const heard = await sockets.drive(channel, { runs, seed, until: SAYS[address] })

    expect([...heard.messages.keys()]).toContain(SAYS[address])
    expect(heard.codes.get(4401)).toBeGreaterThan(0)
  },
  TEST_MS,
)
