import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { signIn } from './client.ts'
import { offer, protectingAs, versionOf } from './protecting.ts'
import { inside, rig } from './rig.ts'
import { newFolder, startService } from './service.ts'

/** Starts a server that answers with a status, which a test may change. */
async function answering() {
  const answers = { status: 200, count: 0 }
  const server = createServer((_request, response) => {
    answers.count += 1
    response.writeHead(answers.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address: unknown = server.address()
  const url = `http://127.0.0.1:${Object(address).port}/health`
  return { answers, probes: [{ kind: 'http', url, status: 200 }] }
}

beforeEach(async () => {
  await rig('reset')
  await offer('rig-calm')
})

test('an address that answers 500 after the upgrade is a regression, whatever the container says', async () => {
  const service = await startService({ isProtected: true })
  onTestFinished(() => service.stop())
  const alice = protectingAs(await signIn(service, 'alice'))
  const { answers, probes } = await answering()
  const id = await alice.begin('rig-calm', { probes })
  await expect.poll(async () => (await alice.record(id)).phase, { timeout: 60_000, interval: 50 }).toBe('settling')
  answers.status = 500

  const job = await alice.ended(id)

  expect(job).toMatchObject({ outcome: 'regressed', exit_code: 0 })
  expect(job.regressions).toEqual([
    { kind: 'probe', name: expect.stringContaining(probes[0]?.url ?? ''), message: expect.stringContaining('500') },
  ])
  expect(job.comparison).toContainEqual(
    expect.objectContaining({ kind: 'probe', before: '200', after: '500', state: 'worse' }),
  )
  expect(answers.count).toBeGreaterThanOrEqual(3)
})

test('while the service is away, nobody asks the address, and it counts neither way', async () => {
  const [folder, port] = [await newFolder(), await freePort()]
  let service = await startService({ isProtected: true, folder, port })
  onTestFinished(async () => {
    await service.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const { answers, probes } = await answering()
  const before = protectingAs(await signIn(service, 'alice'))
  const id = await before.begin('rig-calm', { probes })
  await expect.poll(async () => (await before.record(id)).phase, { timeout: 60_000, interval: 50 }).toBe('settling')

  await service.kill()
  answers.status = 500
  const { count } = answers
  const isOver = () => inside('host', 'cat /var/tmp/ops-panel-jobs-*/*/exit 2>/dev/null || true')
  await expect.poll(isOver, { timeout: 120_000, interval: 500 }).toMatch(/^0 /)
  service = await startService({ isProtected: true, folder, port })
  const job = await protectingAs(await signIn(service, 'alice')).ended(id)

  expect(job).toMatchObject({ outcome: 'upgraded', status: 'success', regressions: [] })
  expect(job.comparison).toContainEqual(expect.objectContaining({ kind: 'probe', before: '200', state: 'same' }))
  expect(answers.count).toBe(count)
  expect(await versionOf('rig-calm')).toBe('2.0')
})
