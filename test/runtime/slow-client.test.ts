import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startDemo } from './demo.ts'
import { openSocket, startService } from '../serve/service.ts'

const LINE = 'une ligne de soixante-quatre octets, répétée jusqu’à la fin..\n'
const BLOCK = LINE.repeat(1000)

test('a client that stops reading is closed with 1013, resumes with from, and delays nobody', async () => {
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
  const resume = (seq: number) => openSocket(url, `${path}?from=${seq}`, { token })
  const [quick, slow] = [openSocket(url, path, { token }), openSocket(url, path, { token })]
  await expect.poll(() => quick.text()).toBe(LINE)
  await expect.poll(() => slow.text()).toBe(LINE)

  slow.ws.pause()
  go()
  const others = await readOn(quick, resume)
  slow.ws.resume()

  expect(await slow.end).toBe(1013)
  const whole = LINE + BLOCK.repeat(blocks)
  expect(others === whole).toBe(true)
  const before = slow.text()
  expect(before.length).toBeLessThan(whole.length)
  expect(before + (await readOn(resume(slow.last()?.seq ?? 0), resume)) === whole).toBe(true)
  expect((await job(id))?.status).toBe('success')
})

type Reader = ReturnType<typeof openSocket>

/** Returns the output for a client that reads all the time, and resumes if this process was too busy. */
async function readOn(reader: Reader, again: (seq: number) => Reader): Promise<string> {
  const code = await reader.end
  if (code === 1000) return reader.text()
  expect(code).toBe(1013)
  return reader.text() + (await readOn(again(reader.last()?.seq ?? 0), again))
}

test('a client that stops reading while it catches up does not fill the memory', async () => {
  const demo = await startDemo()
  demo.upgradeOutput = async function* () {
    for (let block = 0; block < 700; block += 1) yield BLOCK
  }
  const { url, token, run } = await startService(demo)
  const id = await run('lxc:101')
  const path = `/ws/updates/${id}`
  const first = openSocket(url, path, { token })
  await readOn(first, (seq) => openSocket(url, `${path}?from=${seq}`, { token }))
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

/**
 * Sends a request, reads the beginning of the answer, and then nothing until told; then the rest, as long as it
 * arrives.
 */
async function stalled(url: string, path: string, token: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: panel\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`)
  let length = 0
  socket.on('data', (bytes) => {
    length += bytes.length
  })
  await once(socket, 'data')
  socket.pause()
  return {
    async rest() {
      const ended = once(socket, 'close')
      socket.resume()
      await ended
      return length
    },
  }
}

test('answers that nobody reads do not fill the memory, and other readers get theirs', {
  timeout: 60_000,
}, async () => {
  const demo = await startDemo()
  // Each takes two bytes in an answer: more than the system buffers by itself.
  const version = `1.${'"'.repeat(180)}`
  const packages = Array.from(
    { length: 9_000 },
    (_, n) => `package-${n}/stable ${version}2 amd64 [upgradable from: ${version}1]\n`,
  ).join('')
  demo.override = (words, { stdout }) => (words.includes('--upgradable') ? stdout(packages).then(() => 0) : undefined)
  const { url, token, request } = await startService(demo)
  const path = '/api/updates/packages?target=host'
  const size = async () => (await (await request('GET', path)).arrayBuffer()).byteLength
  const whole = await size()
  const stuck: Awaited<ReturnType<typeof stalled>>[] = []
  for (let n = 0; n < 60; n += 1) stuck.push(await stalled(url, path, token))

  expect(await size()).toBe(whole)
  const lengths = await Promise.all(stuck.map(({ rest }) => rest()))
  const got = lengths.filter((length) => length > whole).length
  // 64 MiB are kept in all, of 240.
  expect(got).toBeGreaterThan(0)
  expect(got).toBeLessThan(20)
})
