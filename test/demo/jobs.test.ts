import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { LIST_UPGRADABLE, upgrade } from '../../functions/updates/apt.ts'
import { script } from '../../ssh/command.ts'
import { CLEAN } from '../../jobs/script.ts'
import { collect, connect, follow, run, startJob, withoutMark } from './client.ts'

let host: DemoHost

beforeEach(async () => {
  host = await startDemoHost({ lineMs: 0 })
})

afterEach(() => host.close())

const panel = () => connect({ port: host.port, ...host.service })
const container = (id: string) => upgrade({ scope: 'container', id }, '')

test('an upgrade empties the package list of its container only', async () => {
  const client = await panel()

  await startJob(client, 'job', container('101'))
  const { stdout, stderr, bytes, code } = await collect(await follow(client, 'job'))

  expect(code).toBe(0)
  expect(stderr).toBe(`ops-panel exit 0 ${bytes.length}\n`)
  expect(stdout).toContain('5 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n')
  expect(stdout).toContain('Unpacking nginx (1.22.1-9+deb12u2) over (1.22.1-9) ...\r\n')
  expect(stdout).toContain('Setting up libssl3:amd64 (3.0.17-1~deb12u2) ...\r\n')
  const listed = await run(client, ['/usr/sbin/pct', 'exec', '101', '--', ...LIST_UPGRADABLE])
  expect(listed.stdout).toBe('Listing...\n')
  expect(host.upgradable('host')).toHaveLength(8)
  expect(host.upgradable('102')).toHaveLength(5)
})

test('an upgrade of all containers skips a stopped one', async () => {
  const client = await panel()

  await startJob(client, 'job', upgrade({ scope: 'all', ids: ['101', '102', '103'] }, ''))
  const { stdout, stderr } = await collect(await follow(client, 'job'))

  const headings = stdout.split('\n').filter((line) => /^(===|SKIP|container)/.test(line))
  const last = ['=== LXC 103 ===', "container '103' not running!", 'SKIP LXC 103']
  expect(headings).toEqual(['=== LXC 101 ===', '=== LXC 102 ===', ...last])
  const notes = ['101 done 0', '102 done 0', '103 stopped 255'].map((line) => `ops-panel note ${line}\n`)
  expect(stderr).toMatch(/^ops-panel exit 0 \d+\n/)
  expect(stderr.slice(stderr.indexOf('\n') + 1)).toBe(notes.join(''))
  expect([host.upgradable('101'), host.upgradable('102')]).toEqual([[], []])
  expect(host.upgradable('host')).toHaveLength(8)
})

test('an ordinary account cannot upgrade, one with a rule can', async () => {
  await host.close()
  host = await startDemoHost({
    lineMs: 0,
    users: { rule: { password: 'pw', uid: 1103, groups: ['rule'], sudo: 'rule' } },
  })
  const client = await connect({ port: host.port, username: 'rule', password: 'pw' })

  await startJob(client, 'without', upgrade({ scope: 'host' }, ''))
  await startJob(client, 'with', upgrade({ scope: 'host' }, 'sudo -n'))
  const without = await collect(await follow(client, 'without'))
  const withRule = await collect(await follow(client, 'with'))

  expect(without.stdout).toContain('Permission denied')
  expect(without.stderr).toMatch(/^ops-panel exit 100 /)
  expect(withRule.stdout).toContain('8 upgraded')
  expect(host.upgradable('host')).toEqual([])
})

test('a job survives the connection, and a client that resumes at an offset gets each byte once', async () => {
  host.lineMs = 5
  const first = await panel()
  first.on('error', () => {})
  await startJob(first, 'job', container('101'))
  const channel = await follow(first, 'job')
  const before: Buffer[] = []
  channel.on('data', (chunk: Buffer) => {
    before.push(chunk)
    if (before.length === 5) host.cut()
  })
  await once(channel, 'close')

  const seen = withoutMark(Buffer.concat(before))
  const offset = seen.length
  const second = await panel()
  const rest = await collect(await follow(second, 'job', offset))
  const whole = await collect(await follow(second, 'job'))

  expect(offset).toBeGreaterThan(0)
  expect(rest.bytes.length).toBeGreaterThan(0)
  expect(Buffer.concat([seen, rest.bytes])).toEqual(whole.bytes)
  expect(rest.stderr).toBe(`ops-panel exit 0 ${whole.bytes.length}\n`)
  expect(host.upgradable('101')).toEqual([])
})

test('lines arrive as they are written', async () => {
  host.lineMs = 10
  const client = await panel()
  await startJob(client, 'job', container('102'))
  const channel = await follow(client, 'job')
  let frames = 0
  channel.on('data', () => {
    frames += 1
  })

  await once(channel, 'close')

  expect(frames).toBeGreaterThan(20)
})

test('starting a job twice starts it once; cleaning forgets it', async () => {
  const client = await panel()

  expect((await startJob(client, 'job', container('101'))).code).toBe(0)
  expect((await startJob(client, 'job', container('102'))).code).toBe(0)
  await collect(await follow(client, 'job'))
  expect(host.upgradable('102')).toHaveLength(5)

  await run(client, script(CLEAN, 'ops-panel-clean', 'job'))
  expect((await collect(await follow(client, 'job'))).stderr).toBe('ops-panel gone\n')
})

test('an account sees only its own jobs', async () => {
  const client = await panel()
  const guest = await connect({ port: host.port, username: 'guest', password: 'guest' })
  await startJob(client, 'job', container('101'))

  expect((await collect(await follow(guest, 'job'))).stderr).toBe('ops-panel gone\n')
  expect((await startJob(guest, 'job', container('101'))).code).toBe(73)
  await run(guest, script(CLEAN, 'ops-panel-clean', 'job'))

  expect((await collect(await follow(client, 'job'))).stderr).toMatch(/^ops-panel exit 0 /)
})

test('following ends with its stdin, and the job goes on', async () => {
  host.lineMs = 5
  const client = await panel()
  await startJob(client, 'job', container('101'))
  const channel = await follow(client, 'job')
  channel.once('data', () => channel.end())

  expect((await collect(channel)).stderr).toMatch(/^ops-panel lost \d+ killed\n$/)
  expect((await collect(await follow(client, 'job'))).stderr).toMatch(/^ops-panel exit 0 /)
})

test('a reboot leaves a job without an exit code', async () => {
  host.lineMs = 5
  const before = await panel()
  before.on('error', () => {})
  await startJob(before, 'job', container('101'))
  await once(await follow(before, 'job'), 'data')

  host.reboot()
  const after = await panel()

  expect((await collect(await follow(after, 'job'))).stderr).toMatch(/^ops-panel lost \d+ rebooted\n$/)
})

test('a second upgrade of the same target waits for the first', async () => {
  host.lineMs = 5
  const client = await panel()
  await startJob(client, 'one', container('101'))
  await startJob(client, 'two', container('101'))

  const [one, two] = await Promise.all([collect(await follow(client, 'one')), collect(await follow(client, 'two'))])

  expect(one.stdout).toContain('5 upgraded')
  expect(two.stdout).toContain('Waiting for cache lock')
  expect(two.stdout).toContain('0 upgraded')
})

test('prints bytes of any value and length, and reports the end after all of them are read', async () => {
  const size = 64 * 1024
  const block = Buffer.alloc(size, 'ligne\xff\n', 'latin1')
  const before = process.memoryUsage().rss
  host.upgradeOutput = async function* () {
    for (let round = 0; round < 800; round += 1) yield block
    yield Buffer.from([0xff, 0xc3])
  }
  const client = await panel()
  await startJob(client, 'job', container('101'))
  const channel = await follow(client, 'job')
  let received = 0
  let same = true
  let begun = false
  let stderr = ''
  channel.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const ended = once(channel, 'close')
  channel.on('data', (raw: Buffer) => {
    const chunk = begun ? raw : withoutMark(raw)
    begun = true
    const at = received % size
    if (received + chunk.length <= 800 * size) {
      const expected = Buffer.concat([block.subarray(at), block]).subarray(0, chunk.length)
      same &&= chunk.equals(expected)
    }
    received += chunk.length
    if (received % (size * 40) === 0) {
      channel.pause()
      void setTimeout(2).then(() => channel.resume())
    }
  })
  await ended

  expect(received).toBe(800 * size + 2)
  expect(same).toBe(true)
  expect(stderr).toBe(`ops-panel exit 0 ${received}\n`)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
})

test('a reader that stopped when its window was just full gets nothing twice', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x')
  host.upgradeOutput = async function* () {
    yield Buffer.alloc(1000, 'x')
    for (let round = 0; round < 3; round += 1) yield megabyte
  }
  const client = await panel()
  await startJob(client, 'job', container('101'))
  const channel = await follow(client, 'job')
  // ssh2's client buffers 2 MiB, then 1 MiB and the first odd chunk more, before it has to be read.
  await expect.poll(() => channel.readableLength).toBeGreaterThanOrEqual(1000 + 3 * megabyte.length)

  const { bytes, stderr } = await collect(channel)

  expect(bytes.length).toBe(1000 + 3 * megabyte.length)
  expect(stderr).toBe(`ops-panel exit 0 ${1000 + 3 * megabyte.length}\n`)
})

test('closing the host ends its jobs and its connections', async () => {
  host.lineMs = 60_000
  const client = await panel()
  client.on('error', () => {})
  await startJob(client, 'job', container('101'))

  const gone = new Promise<void>((resolve) => client.on('close', () => resolve()))
  await host.close()
  await gone

  expect(host.connections).toBe(0)
})
