import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { startDemo } from '../runtime/demo.ts'
import { openSocket, startService } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

/** A service with a job whose output the test controls. */
async function running(env: Record<string, string> = {}) {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const service = await startService(demo, env)
  const id = await service.run('lxc:101')
  const { url, token } = service
  const path = `/ws/updates/${id}`
  return {
    ...service,
    demo,
    output,
    id,
    path,
    subscribe: (query = '') => openSocket(url, path + query, { token }),
    anonymous: () => openSocket(url, path),
  }
}

test('a subscriber gets each piece as it is printed, then the end, and the socket closes with 1000', async () => {
  const { subscribe, output, id, job } = await running()
  const socket = subscribe()
  await socket.opened

  for (const line of ['un\n', 'deux é\n', 'trois\n']) {
    output.print(line)
    await expect.poll(() => socket.text()).toContain(line)
  }
  output.end()

  expect(await socket.end).toBe(1000)
  expect(socket.text()).toBe('un\ndeux é\ntrois\n')
  expect(socket.last()).toEqual({ type: 'update_done', topic: `update:${id}`, seq: 17, data: { job_id: id } })
  expect(socket.events.map(({ type }) => type)).toEqual([
    ...Array(socket.events.length - 1).fill('update_output'),
    'update_done',
  ])
  expect(await job(id)).toMatchObject({ status: 'success', output: socket.text() })
})

test('the seq of every frame is the byte offset after its chunk', async () => {
  const { subscribe, output } = await running()
  const socket = subscribe()
  for (let line = 0; line < 50; line += 1) output.print(`ligne ${line} é€🦊\n`)
  output.end()
  await socket.end

  let at = 0
  for (const { type, seq, data } of socket.events) {
    if (type === 'update_output') at += Buffer.byteLength(String(data.chunk))
    expect(seq).toBe(at)
  }
  expect(at).toBe(Buffer.byteLength(output.text()))
})

test('a late subscriber gets the whole output without a gap or a repetition while more arrives', async () => {
  const { subscribe, output } = await running()
  const first = subscribe()
  const late: ReturnType<typeof subscribe>[] = []
  for (let line = 0; line < 3000; line += 1) {
    output.print(`ligne ${line} ${'é'.repeat(line % 90)}\n`)
    if (line % 200 === 199) {
      late.push(subscribe())
      await expect.poll(() => first.text(), { interval: 2 }).toContain(`ligne ${line - 50} `)
    }
  }
  output.end()

  for (const socket of [first, ...late]) {
    expect(await socket.end).toBe(1000)
    expect(socket.text() === output.text()).toBe(true)
  }
})

test('a subscriber that reconnects gets the output after its byte', async () => {
  const { subscribe, output, end } = { ...(await running()), end: 17 }
  output.print('un\ndeux é\n')
  const before = subscribe()
  await expect.poll(() => before.text()).toBe('un\ndeux é\n')
  before.ws.close()

  const after = subscribe(`?from=${before.last()?.seq}`)
  output.print('trois\n')
  output.end()

  expect(await after.end).toBe(1000)
  expect(after.text()).toBe('trois\n')
  expect(after.last()?.seq).toBe(end)
})

test.each([0, 1, 3, 10, 16, 17])(
  'a subscription of an ended job from byte %i gets the rest, the end and 1000',
  async (from) => {
    const { subscribe, output, id } = await running()
    output.print('un\ndeux é\ntrois\n')
    output.end()
    await subscribe().end

    const socket = subscribe(`?from=${from}`)

    expect(await socket.end).toBe(1000)
    const whole = Buffer.from('un\ndeux é\ntrois\n')
    expect(socket.text()).toBe(whole.subarray(from).toString())
    expect(socket.last()).toMatchObject({ type: 'update_done', seq: 17, data: { job_id: id } })
  },
)

test.each(['-1', 'x', '1.5'])('a from of %j is refused with a close and without output', async (from) => {
  const { subscribe, output } = await running()
  output.print('un\n')

  const socket = subscribe(`?from=${from}`)

  expect(await socket.end).toBe(1008)
  expect(socket.events).toEqual([])
})

test('a subscriber without a token gets live frames only, then the end and 1000', async () => {
  const { subscribe, anonymous, output } = await running()
  const first = subscribe()
  output.print('avant\n')
  await expect.poll(() => first.text()).toBe('avant\n')

  const socket = anonymous()
  await socket.opened
  output.print('après\n')
  await expect.poll(() => socket.text()).toBe('après\n')
  output.end()

  expect(await socket.end).toBe(1000)
  expect(socket.events.map(({ type }) => type)).toEqual(['update_output', 'update_done'])
  expect(socket.events[0]?.seq).toBe(13)
})

test('a subscriber without a token of an ended job gets 1000 and no frame', async () => {
  const { subscribe, anonymous, output } = await running()
  output.print('secret\n')
  output.end()
  await subscribe().end

  const socket = anonymous()

  expect(await socket.end).toBe(1000)
  expect(socket.events).toEqual([])
})

test('a subscriber without a token gets 4401 while PANEL_ANONYMOUS_OUTPUT is off', async () => {
  const { subscribe, anonymous, output } = await running({ PANEL_ANONYMOUS_OUTPUT: 'off' })
  const socket = anonymous()

  expect(await socket.end).toBe(4401)

  output.print('secret\n')
  output.end()
  const signedIn = subscribe()
  expect(await signedIn.end).toBe(1000)
  expect(signedIn.text()).toBe('secret\n')
  expect(socket.events).toEqual([])
})

test('a missing job closes with 4404, with a token and without', async () => {
  const { url, token, demo: _ } = await running()

  for (const options of [{ token }, {}]) {
    const socket = openSocket(url, '/ws/updates/1700000000-abcdefgh', options)
    expect(await socket.end).toBe(4404)
    expect(socket.events).toEqual([])
  }
})

test('output that cannot be read closes with 1011 and storage_failed, and is complete afterwards', async () => {
  const { subscribe, output, folder, job, id } = await running()
  output.print('avant\n')
  const first = subscribe()
  await expect.poll(() => first.text()).toBe('avant\n')
  const db = await openDatabase(`file:${folder}/panel.db`)
  onTestFinished(() => db.close())

  await db.script('ALTER TABLE job_output RENAME TO away')
  const meanwhile = subscribe()

  expect(await meanwhile.end).toBe(1011)
  expect(meanwhile.closed()?.reason).toBe('storage_failed')
  expect(meanwhile.events).toEqual([])
  await db.script('ALTER TABLE away RENAME TO job_output')
  output.print('après\n')
  output.end()
  const after = subscribe('?from=6')
  expect(await after.end).toBe(1000)
  expect(after.text()).toBe('après\n')
  expect(await first.end).toBe(1000)
  expect(await job(id)).toMatchObject({ status: 'success', output: 'avant\naprès\n' })
})

test('a job with an invalid target closes with 1000 without a frame', async () => {
  const { run, url, token, job } = await running()
  const id = await run('nonsense')
  await expect.poll(async () => (await job(id))?.status).toBe('error')

  const socket = openSocket(url, `/ws/updates/${id}`, { token })

  expect(await socket.end).toBe(1000)
  expect(socket.events).toEqual([])
})

test('subscribers do not notice a lost connection to the host', async () => {
  const { subscribe, output, demo } = await running()
  const socket = subscribe()
  output.print('avant\n')
  await expect.poll(() => socket.text()).toBe('avant\n')

  demo.cut()
  output.print('pendant\n')
  await expect.poll(() => socket.text(), { timeout: 3_000 }).toBe('avant\npendant\n')
  output.end()

  expect(await socket.end).toBe(1000)
  expect(socket.text()).toBe('avant\npendant\n')
  expect(socket.last()).toMatchObject({ type: 'update_done', seq: 14 })
})

test('a reboot of the host sends the error after the stored output', async () => {
  const { subscribe, output, demo, id, job } = await running()
  const socket = subscribe()
  output.print('avant\n')
  await expect.poll(() => socket.text()).toBe('avant\n')

  demo.reboot()

  expect(await socket.end).toBe(1000)
  const error = (await job(id))?.output
  expect(error).toMatch(/^Erreur SSH : ./)
  expect(socket.last()).toEqual({ type: 'update_error', topic: `update:${id}`, seq: 6, data: { error } })
  const late = subscribe()
  expect(await late.end).toBe(1000)
  expect(late.text()).toBe('avant\n')
  expect(late.last()).toEqual(socket.last())
})

test('a restart of the service loses nothing: a subscriber that reconnects with from gets the rest', async () => {
  const { subscribe, output, stop, folder, demo, id, token } = await running()
  const before = subscribe()
  output.print('avant\n')
  await expect.poll(() => before.text()).toBe('avant\n')
  await stop()
  expect(await before.end).toBe(1001)
  output.print('pendant\n')

  const next = await startService(demo, { PANEL_DATA_DIR: folder })
  const after = openSocket(next.url, `/ws/updates/${id}?from=${before.last()?.seq}`, { token })
  await expect.poll(() => after.text()).toBe('pendant\n')
  output.print('après\n')
  output.end()

  expect(await after.end).toBe(1000)
  expect(after.text()).toBe('pendant\naprès\n')
  expect(await next.job(id)).toMatchObject({ status: 'success', output: 'avant\npendant\naprès\n' })
})

test('a late subscriber gets a long stored row in frames of 32 KiB, cut between characters', async () => {
  const { subscribe, output, id, job } = await running()
  const text = `x${'é€🦊'.repeat(30_000)}\n`
  output.print(text)
  output.end()
  await expect.poll(() => job(id)).toMatchObject({ status: 'success' })
  const whole = Buffer.from(text)
  const from = whole.indexOf('🦊', 100_000)

  for (const [query, start] of [
    ['', 0],
    [`?from=${from}`, from],
  ] as const) {
    const socket = subscribe(query)
    await socket.end
    const chunks = socket.events.slice(0, -1).map(({ data }) => String(data.chunk))

    expect(chunks.join('')).toBe(whole.toString('utf8', start))
    expect(chunks.length).toBeGreaterThan(5)
    expect(Math.max(...chunks.map((chunk) => Buffer.byteLength(chunk)))).toBeLessThanOrEqual(32 * 1024)
    expect(socket.events.at(-2)?.seq).toBe(whole.length)
  }
})
