import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Caller, everyAnswer, signIn } from './client.ts'
import { runJob } from './job.ts'
import { type MailServer, readMail, startMailServer } from './mail-server.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** A mail is there within seconds, also after the first pause of 10 s; a busy machine takes longer. */
const ARRIVAL = { timeout: 90_000, interval: 200 }
const PASSWORD = randomBytes(18).toString('base64url')
const PANEL = 'https://panel.test'
const SETTINGS = { env: { PANEL_PUBLIC_URL: PANEL } }

const Channel = z.looseObject({ id: z.string(), last: z.looseObject({ ok: z.boolean() }).nullable() })
const Channels = z.object({ channels: z.array(Channel) })
const Tested = z.object({ status: z.number(), answer: z.string(), refused: z.string().nullable() })
const Refused = z.object({ code: z.string(), error: z.string() })
const Notices = z.object({
  notices: z.array(
    z.looseObject({
      event: z.string(),
      target: z.string().nullable(),
      deliveries: z.array(
        z.looseObject({
          channel_id: z.string(),
          state: z.string(),
          attempts: z.number(),
          last_error: z.string().nullable(),
        }),
      ),
    }),
  ),
})

let service: Service
let alice: Caller
let signed: MailServer
let open: MailServer
beforeAll(async () => {
  await rig('reset')
  await rig('slow', '2', '1')
  ;[signed, open] = await Promise.all([startMailServer({ name: 'panel', password: PASSWORD }), startMailServer()])
  service = await startService(SETTINGS)
  alice = await signIn(service, 'alice')
  return async () => {
    await service.stop()
    await Promise.all([signed.remove(), open.remove()])
    await rm(service.folder, { recursive: true, force: true })
  }
})

interface Given {
  password?: string
  username?: string
  security?: string
  allow_self_signed?: boolean
  events?: string[]
  language?: string
  targets?: string[]
}

/** Makes a channel of the server; it is gone after the test. */
async function channelTo(
  { port }: MailServer,
  { events = ['upgrade_failed'], language = 'fr', targets, ...settings }: Given,
): Promise<string> {
  const { status, body } = await alice.post('/api/notifications/channels', {
    name: `Courrier ${randomBytes(4).toString('hex')}`,
    kind: 'email',
    settings: {
      host: '127.0.0.1',
      port,
      security: 'none',
      from: 'panel@example.test',
      to: ['ops@example.test', 'nuit@example.test'],
      ...settings,
    },
    events,
    targets: targets ?? 'all',
    minimum: 'info',
    quiet: null,
    enabled: true,
    language,
    output: false,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  const { id } = Channel.parse(body)
  onTestFinished(async () => {
    await alice.delete(`/api/notifications/channels/${id}`)
  })
  return id
}

const WITH_ACCOUNT = { security: 'starttls', username: 'panel', password: PASSWORD, allow_self_signed: true }
const testOf = (id: string) => alice.post(`/api/notifications/channels/${id}/test`, {})

/** The deliveries to a channel, newest first. */
async function deliveriesTo(id: string) {
  const { notices } = Notices.parse((await alice.get('/api/notifications/notices?limit=100')).body)
  return notices.flatMap(({ event, target, deliveries }) =>
    deliveries.filter(({ channel_id }) => channel_id === id).map((each) => ({ event, target, ...each })),
  )
}

/** Runs an upgrade of a container that fails. */
async function failedUpgrade(id: '101' | '102') {
  await rig('reset', id)
  await rig('fail', 'on', id)
  const job = await runJob(alice, `lxc:${id}`)
  expect(job.output).toContain('rig-fail: simulated failure')
  return job
}

test('a test mail goes through STARTTLS and the account, and its answer has the words of the server', async () => {
  const before = (await signed.messages()).length
  const id = await channelTo(signed, WITH_ACCOUNT)

  const { status, body } = await testOf(id)

  expect({ status, body }).toMatchObject({ status: 200 })
  expect(Tested.parse(body)).toEqual({ status: 250, answer: expect.stringMatching(/OK id=/), refused: null })
  await expect.poll(async () => (await signed.messages()).length, ARRIVAL).toBe(before + 1)
  expect(await signed.log()).toMatch(/<= panel@example\.test .* P=esmtpsa X=TLS1\.[23]:.* A=plain:panel /)
  const mail = readMail((await signed.messages()).at(-1) ?? '')
  expect([...mail.parts.keys()]).toEqual(['text/plain', 'text/html'])
  expect(Channels.parse((await alice.get('/api/notifications/channels')).body).channels).toContainEqual(
    expect.objectContaining({ id, last: expect.objectContaining({ ok: true, error: null }) }),
  )
})

test('a failed upgrade arrives once, as text and as HTML, with ASCII headers that say it in French', async () => {
  const before = (await signed.messages()).length
  const id = await channelTo(signed, WITH_ACCOUNT)

  const job = await failedUpgrade('101')

  await expect.poll(async () => (await signed.messages()).length, ARRIVAL).toBe(before + 1)
  await expect
    .poll(() => deliveriesTo(id), ARRIVAL)
    .toMatchObject([{ event: 'upgrade_failed', target: 'lxc:101', state: 'delivered', attempts: 1, last_error: null }])
  const raw = (await signed.messages()).at(-1) ?? ''
  expect(raw.slice(0, raw.indexOf('\n\n'))).toMatch(/^[\t\n\x20-\x7e]+$/)
  const { fields, subject, parts } = readMail(raw)
  expect(subject).toContain('la mise à jour a échoué')
  expect(subject).toContain('101')
  expect(fields.get('subject')).toMatch(/=\?utf-8\?[bq]\?/i)
  expect(fields.get('from')).toMatch(/<panel@example\.test>$|^panel@example\.test$/)
  expect(fields.get('to')).toBe('ops@example.test, nuit@example.test')
  expect(fields.get('envelope-to')?.split(', ').sort()).toEqual(['nuit@example.test', 'ops@example.test'])
  expect(fields.get('date')).toMatch(/^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$/)
  expect(fields.get('message-id')).toMatch(/^<[\w.-]+@example\.test>$/)
  expect(fields.get('auto-submitted')).toBe('auto-generated')
  expect([...parts.keys()]).toEqual(['text/plain', 'text/html'])
  for (const part of parts.values()) {
    expect(part).toContain('alice')
    expect(part).toContain(PANEL)
    expect(part).not.toContain('simulated failure')
  }
  expect(parts.get('text/html')).not.toMatch(/<(img|script|link|iframe)\b/i)
  expect(raw).not.toContain(PASSWORD)
  expect(job.record.status).toBe('success')

  // The next one is the second and the last: nothing was sent twice.
  await failedUpgrade('102')
  await expect.poll(async () => (await signed.messages()).length, ARRIVAL).toBe(before + 2)
  await expect
    .poll(async () => (await deliveriesTo(id)).map(({ state }) => state), ARRIVAL)
    .toEqual(['delivered', 'delivered'])
  expect((await signed.messages()).slice(before).map((each) => readMail(each).subject.includes('102'))).toEqual([
    false,
    true,
  ])
})

test('what happens while the mail server is away arrives once it is back, and once, though the service was killed meanwhile', async () => {
  const before = (await signed.messages()).length
  const id = await channelTo(signed, { ...WITH_ACCOUNT, targets: ['lxc:101'], language: 'en' })
  await signed.stop()
  onTestFinished(() => signed.start())

  await failedUpgrade('101')
  await expect
    .poll(() => deliveriesTo(id), ARRIVAL)
    .toMatchObject([
      {
        state: 'waiting',
        last_error: expect.stringContaining(`127.0.0.1:${signed.port}`),
      },
    ])
  await service.kill()
  service = await startService({ ...SETTINGS, folder: service.folder, port: Number(new URL(service.url).port) })
  await signed.start()

  await expect.poll(async () => (await deliveriesTo(id)).map(({ state }) => state), ARRIVAL).toEqual(['delivered'])
  await expect.poll(async () => (await signed.messages()).length, ARRIVAL).toBe(before + 1)
  expect((await deliveriesTo(id))[0]?.attempts).toBeGreaterThan(1)
  expect(readMail((await signed.messages()).at(-1) ?? '').subject).toMatch(/101.*: .*failed/)
})

test('a wrong password is told in the words of the server, and the password nowhere', async () => {
  const wrong = randomBytes(18).toString('base64url')
  const before = (await signed.messages()).length
  const id = await channelTo(signed, { ...WITH_ACCOUNT, password: wrong })

  const { status, body } = await testOf(id)

  expect(status).toBe(502)
  expect(Refused.parse(body)).toEqual({
    code: 'channel_refused',
    error: expect.stringContaining('535 Incorrect authentication data'),
  })
  expect(await signed.log()).toContain('plain authenticator failed')
  const coded = Buffer.from(`\0panel\0${wrong}`).toString('base64')
  for (const text of [everyAnswer(), service.log(), await signed.log()]) {
    expect(text).not.toContain(wrong)
    expect(text).not.toContain(coded)
  }
  expect(await signed.messages()).toHaveLength(before)
})

test('a certificate that nobody has signed gets neither mail nor password unless the channel allows it', async () => {
  const before = (await signed.messages()).length
  const id = await channelTo(signed, { ...WITH_ACCOUNT, allow_self_signed: false })
  const logged = (await signed.log()).length

  const { status, body } = await testOf(id)

  expect({ status, body }).toMatchObject({ status: 502, body: { code: 'channel_refused' } })
  expect((await signed.log()).slice(logged)).not.toMatch(/authenticator|<=/)
  expect(await signed.messages()).toHaveLength(before)
})

test('a server without STARTTLS gets nothing from a channel that asks for it, and a mail from one that does not', async () => {
  const secure = await channelTo(open, { security: 'starttls', allow_self_signed: true })
  expect(await testOf(secure)).toMatchObject({ status: 502, body: { code: 'channel_refused' } })
  expect(await open.messages()).toEqual([])

  const plain = await channelTo(open, {})
  expect(await testOf(plain)).toMatchObject({ status: 200, body: { status: 250 } })
  await expect.poll(async () => (await open.messages()).length, ARRIVAL).toBe(1)
  expect(await open.log()).toMatch(/<= panel@example\.test .* P=esmtp S=/)
})
