import { expect, test } from 'vitest'
import { startDemo } from './demo.ts'
import { openSocket, startService } from './service.ts'

const LINE = 'une ligne de soixante-quatre octets, répétée jusqu’à la fin..\n'
const BLOCK = LINE.repeat(1000)

test('a client that stops reading is closed with 1013, comes back with from, and others get everything meanwhile', async () => {
  const demo = await startDemo()
  let go = () => {}
  const started = new Promise<void>((resolve) => {
    go = resolve
  })
  const blocks = 400
  demo.upgradeOutput = async function* () {
    yield LINE
    await started
    for (let block = 0; block < blocks; block += 1) yield BLOCK
  }
  const { url, token, run, job } = await startService(demo)
  const id = await run('lxc:101')
  const path = `/ws/updates/${id}`
  const [quick, slow] = [openSocket(url, path, { token }), openSocket(url, path, { token })]
  await expect.poll(() => quick.text()).toBe(LINE)
  await expect.poll(() => slow.text()).toBe(LINE)

  slow.ws.pause()
  go()
  expect(await quick.end).toBe(1000)
  slow.ws.resume()

  expect(await slow.end).toBe(1013)
  const whole = LINE + BLOCK.repeat(blocks)
  expect(quick.text() === whole).toBe(true)
  const before = slow.text()
  expect(before.length).toBeLessThan(whole.length)
  const again = openSocket(url, `${path}?from=${slow.last()?.seq}`, { token })
  expect(await again.end).toBe(1000)
  expect(before + again.text() === whole).toBe(true)
  expect((await job(id))?.status).toBe('success')
})

test('a client that stops reading while it catches up does not fill the memory', async () => {
  const demo = await startDemo()
  demo.upgradeOutput = async function* () {
    for (let block = 0; block < 700; block += 1) yield BLOCK
  }
  const { url, token, run } = await startService(demo)
  const id = await run('lxc:101')
  const path = `/ws/updates/${id}`
  const first = openSocket(url, path, { token })
  expect(await first.end).toBe(1000)
  first.events.length = 0
  const before = process.memoryUsage().arrayBuffers

  const stuck = Array.from({ length: 5 }, () => openSocket(url, path, { token }))
  for (const { ws, opened } of stuck) {
    await opened
    ws.pause()
  }
  const other = openSocket(url, `${path}?from=${700 * Buffer.byteLength(BLOCK)}`, { token })
  await other.end

  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024)
})
