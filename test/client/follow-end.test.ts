import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, createPanel } from '../../client/index.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import { followed, outputOf, signedIn, upgrade } from './signed-in.ts'

const WAIT = { timeout: 60_000, interval: 10 }
const SOCKET = 'GET /ws/'

const line = (n: number) => `Paramétrage de paquet-${n} (1.${n}) … ✓ 🐧\r\n`

test('follow continues at the given byte', async () => {
  const { printed, panel } = await signedIn()
  const id = await upgrade(panel)
  printed.print(line(1))
  printed.end()
  const first = followed(panel, id)
  await first.ended
  const bytes = Buffer.from(first.text())

  const rest = followed(panel, id, { from: 7 })
  await rest.ended

  expect(rest.text()).toBe(bytes.subarray(7).toString())
})

test('a start that another upgrade of the target keeps out names the job to follow', async () => {
  const { printed, panel } = await signedIn()
  const id = await upgrade(panel)

  const refused = await upgrade(panel).catch((error: unknown) => error)

  expect(refused).toMatchObject({ constructor: ApiError, status: 409, code: 'already_queued', jobId: id })
  printed.end()
})

test.each([[{}], [{ WebSocket: false as const }]])(
  'following a missing job throws an ApiError: %j',
  async (options) => {
    const { panel } = await signedIn(options)

    await expect(followed(panel, '1700000000-aaaaaaaa').ended).rejects.toMatchObject({
      constructor: ApiError,
      status: 404,
      code: 'job_missing',
    })
  },
)

test.each([[{}], [{ WebSocket: false as const }]])(
  'following a job with an invalid target ends with an error, even without an event from the service: %j',
  async (options) => {
    const { panel } = await signedIn(options)
    const { job_id } = await panel.api('POST /api/updates/run', { body: { target: 'moon' } })

    const follower = followed(panel, job_id)
    await follower.ended

    expect(follower.events).toEqual([
      { type: 'update_error', topic: `update:${job_id}`, seq: 0, data: { error: 'Cible invalide : moon' } },
    ])
  },
)

test.each([[{}], [{ WebSocket: false as const }]])(
  'the last event of a cancelled job names who cancelled it: %j',
  async (options) => {
    const { printed, panel } = await signedIn(options)
    const id = await upgrade(panel)
    const follower = followed(panel, id)
    printed.print(line(1))
    await expect.poll(follower.text, WAIT).toContain(line(1))

    await panel.api('POST /api/updates/jobs/{id}/cancel', { params: { id } })
    await follower.ended

    expect(follower.events.at(-1)).toMatchObject({ type: 'update_error', data: { error: 'Annulé par demo' } })
    expect(follower.text()).toBe(await outputOf(panel, id))
  },
)

test('a user may not follow a deployment, and an administrator learns that it does not exist', async () => {
  const { service, proxy, panel: admin } = await signedIn()
  const guest = createPanel({ url: proxy.url })
  await guest.signIn('guest', 'guest')
  const next = (panel: typeof guest) => panel.follow('deploy:nothing').next()

  await expect(next(guest)).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  await expect(next(admin)).rejects.toMatchObject({ status: 404, code: 'deployment_missing' })
  await expect(next(createPanel({ url: service.url }))).rejects.toMatchObject({ status: 401, code: 'unauthenticated' })
})

test('a database failure mid-job is reported as the trouble, and costs no byte', { timeout: 90_000 }, async () => {
  const { service, printed, proxy, panel } = await signedIn()
  const id = await upgrade(panel)
  printed.print(line(1))
  const told: string[] = []
  const onState = (state: string, trouble = '') => told.push(`${state} ${trouble}`.trim())
  const follower = followed(panel, id, { onState })
  await expect.poll(follower.text, WAIT).toBe(line(1))
  const db = await openDatabase(`file:${service.folder}/panel.db`)
  onTestFinished(() => db.close())

  await db.script('ALTER TABLE job_output RENAME TO away')
  proxy.cutNow(SOCKET)
  printed.print(line(2))
  await expect.poll(() => told, WAIT).toContain('waiting storage_failed')
  const before = told.length
  // Nor is it said to be well in between.
  await expect.poll(() => proxy.lines.filter((asked) => asked.includes('/output')).length, WAIT).toBeGreaterThan(1)
  expect(told.slice(before).filter((state) => state === 'live')).toEqual([])
  await db.script('ALTER TABLE away RENAME TO job_output')
  printed.print(line(3))
  printed.end()
  await follower.ended

  expect(follower.text()).toBe(await outputOf(panel, id))
  expect(follower.text()).toBe([1, 2, 3].map(line).join(''))
  expect(follower.events.at(-1)).toMatchObject({ type: 'update_done' })
})

test('signing out ends every follow', async () => {
  const { proxy, panel } = await signedIn()
  const follower = followed(panel, await upgrade(panel))
  await expect.poll(() => follower.states).toContain('live')

  await panel.signOut()

  await expect(follower.ended).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect.poll(() => proxy.open(SOCKET)).toBe(0)
})

test.each([
  ['live', {}],
  ['polling', { WebSocket: false as const }],
])('an abort while %s rejects with the reason and leaves nothing open', async (state, options) => {
  const { proxy, panel } = await signedIn(options)
  const { signal, abort } = aborting()
  const follower = followed(panel, await upgrade(panel), { signal })
  await expect.poll(() => follower.states).toContain(state)

  const reason = new Error('enough')
  abort(reason)

  await expect(follower.ended).rejects.toBe(reason)
  await expect.poll(() => proxy.open(SOCKET)).toBe(0)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('leaving the loop leaves nothing open', async () => {
  const { printed, proxy, panel } = await signedIn()
  const { signal } = aborting()
  const id = await upgrade(panel)
  printed.print(line(1))

  for await (const event of panel.follow(`update:${id}`, { signal })) {
    expect(event.type).toBe('update_output')
    break
  }

  await expect.poll(() => proxy.open(SOCKET)).toBe(0)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

function aborting() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: unknown) => controller.abort(reason) }
}

test('a silent dead socket is replaced, and no byte is missing', async () => {
  // Only the client's wait for a silent socket is shortened.
  const real = globalThis.setTimeout
  const sooner = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => sooner.mockRestore())
  sooner.mockImplementation((run: () => void, ms?: number) => real(run, ms === 45_000 ? 300 : ms))
  const { printed, proxy, panel } = await signedIn()
  const id = await upgrade(panel)
  const follower = followed(panel, id)
  printed.print(line(1))
  await expect.poll(follower.text, WAIT).toContain(line(1))

  proxy.silence(SOCKET)
  printed.print(line(2))
  await expect.poll(follower.text, WAIT).toContain(line(2))
  printed.end()
  await follower.ended

  expect(follower.text()).toBe(await outputOf(panel, id))
  expect(follower.states).toEqual(['connecting', 'live'])
})

test('the client retries within five seconds after any outage, with jitter', async () => {
  const panel = createPanel({
    url: 'http://panel.test',
    WebSocket: false,
    async fetch(url) {
      if (url.endsWith('/login')) return Response.json({ access_token: 'a.b.c', expires_in: 900 })
      if (waits.length < 12) {
        failed = true
        throw new TypeError('fetch failed')
      }
      return url.includes('/output')
        ? Response.json({ chunk: 'back', next_offset: 4, ended: true })
        : Response.json({ status: 'success', output: 'back' })
    },
  })
  await panel.signIn('demo', 'demo')
  const waits: number[] = []
  let failed = false
  const real = globalThis.setTimeout
  const sooner = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => sooner.mockRestore())
  sooner.mockImplementation((run: () => void, ms = 0) => {
    if (!failed) return real(run, ms)
    waits.push(ms)
    failed = false
    return real(run, 0)
  })

  const follower = followed(panel, '1700000000-aaaaaaaa')
  await follower.ended

  expect(follower.text()).toBe('back')
  const late = waits.slice(4)
  expect(Math.max(...late)).toBeLessThanOrEqual(5_000)
  expect(Math.min(...late)).toBeGreaterThanOrEqual(2_500)
  expect(new Set(late).size).toBeGreaterThan(1)
})
