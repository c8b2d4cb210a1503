import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ChannelKind } from '../../notifications/channel.ts'
import type { OpenChannel } from '../../notifications/channel-secrets.ts'
import { sendByHttp } from '../../notifications/http-sender.ts'
import { sendMail } from '../../notifications/mail-sender.ts'
import type { Outgoing } from '../../notifications/outgoing.ts'
import { freePort } from '../free-port.ts'
import { type Answer, httpReceiver, type MailOptions, mailServer, TAKEN } from './receivers.ts'

const SECRET = 'tk_s3cr3t/with+signs'
const never = new AbortController().signal
const now = new Date('2026-03-01T12:00:07.500Z')

const MESSAGE: Outgoing = {
  id: '0a1b2c3d4e5f60718293a4b5',
  at: '2026-03-01T12:00:00.000Z',
  title: 'web (lxc:101) : 2 services en panne après la mise à jour',
  text: 'nginx <est> en panne.\nRevenez à l’instantané.',
  link: 'https://panel.example/updates/5f0c',
  severity: 'critical',
  event: 'regressed',
  target: 'lxc:101',
}

function channel(kind: ChannelKind, plain: OpenChannel['plain'], secrets: OpenChannel['secrets'] = {}): OpenChannel {
  const chosen = { events: [], targets: 'all', minimum: 'info', quiet: null, language: 'fr', output: false } as const
  return { id: 'c1', name: 'Astreinte', kind, plain, secrets, chosen: { ...chosen, events: [] } }
}

const KINDS: [ChannelKind, OpenChannel['plain'], OpenChannel['secrets']][] = [
  ['ntfy', { topic: 'ops-panel' }, { token: SECRET }],
  ['gotify', {}, { token: SECRET }],
  ['webhook', {}, { secret: SECRET }],
  ['apprise', {}, { key: SECRET }],
  ['matrix', { room: '!a:matrix.test' }, { token: SECRET }],
]

const send = (to: OpenChannel, message = MESSAGE, withinMs?: number) =>
  sendByHttp(to, message, { now, signal: never, ...(withinMs !== undefined && { withinMs }) })

test('ntfy gets JSON at the root of its server, with the token in a header', async () => {
  const receiver = await httpReceiver()

  const taken = await send(channel('ntfy', { url: `${receiver.url}/push/`, topic: 'ops-panel' }, { token: SECRET }))

  expect(taken).toEqual({ status: 200, answer: TAKEN, refused: null })
  expect(receiver.received).toHaveLength(1)
  const [{ method, path, headers, body } = Object()] = receiver.received
  expect([method, path, headers.authorization]).toEqual(['POST', '/push/', `Bearer ${SECRET}`])
  expect(JSON.parse(body)).toEqual({
    topic: 'ops-panel',
    title: MESSAGE.title,
    message: MESSAGE.text,
    priority: 5,
    tags: ['rotating_light'],
    sequence_id: MESSAGE.id,
    click: MESSAGE.link,
  })
})

test('gotify gets its key in a header, and the link as what a tap opens', async () => {
  const receiver = await httpReceiver()

  await send(channel('gotify', { url: receiver.url }, { token: SECRET }))

  const [{ method, path, headers, body } = Object()] = receiver.received
  expect([method, path, headers['x-gotify-key']]).toEqual(['POST', '/message', SECRET])
  expect(JSON.parse(body)).toEqual({
    title: MESSAGE.title,
    message: MESSAGE.text,
    priority: 8,
    extras: { 'client::notification': { click: { url: MESSAGE.link } } },
  })
})

test('a webhook gets a signature over time, delivery and body, and can check it', async () => {
  const receiver = await httpReceiver()

  await send(channel('webhook', { url: `${receiver.url}/hook?team=a` }, { secret: SECRET }))

  const [{ method, path, headers, body } = Object()] = receiver.received
  expect([method, path]).toEqual(['POST', '/hook?team=a'])
  const { at, event, severity, target, title, text, link, id } = MESSAGE
  expect(JSON.parse(body)).toEqual({ id, at, event, severity, target, title, text, link })
  expect(headers['x-panel-timestamp']).toBe(String(Math.floor(now.getTime() / 1000)))
  expect(headers['x-panel-delivery']).toBe(id)
  const signed = `${headers['x-panel-timestamp']}.${headers['x-panel-delivery']}.${body}`
  expect(headers['x-panel-signature']).toBe(`sha256=${createHmac('sha256', SECRET).update(signed).digest('hex')}`)
})

test('apprise gets the key in the address, and a type', async () => {
  const receiver = await httpReceiver()

  await send(channel('apprise', { url: receiver.url }, { key: SECRET }))

  const [{ method, path, body } = Object()] = receiver.received
  expect([method, path]).toEqual(['POST', `/notify/${encodeURIComponent(SECRET)}`])
  expect(JSON.parse(body)).toEqual({
    title: MESSAGE.title,
    body: `${MESSAGE.text}\n\n${MESSAGE.link}`,
    type: 'failure',
    format: 'text',
  })
})

test('an Apprise server that knows no address under the key has told nobody', async () => {
  const receiver = await httpReceiver((response) => response.writeHead(204).end())

  await expect(send(channel('apprise', { url: receiver.url }, { key: SECRET }))).rejects.toThrow(
    `${receiver.url} n’a aucune adresse sous cette clé (HTTP 204).`,
  )
  expect(await send(channel('webhook', { url: receiver.url }, { secret: SECRET }))).toMatchObject({ status: 204 })
})

test('matrix gets the delivery as its transaction, and HTML in which nothing of the text is markup', async () => {
  const receiver = await httpReceiver()

  await send(channel('matrix', { url: receiver.url, room: '!a/b:matrix.test' }, { token: SECRET }))

  const [{ method, path, headers, body } = Object()] = receiver.received
  expect([method, path]).toEqual([
    'PUT',
    `/_matrix/client/v3/rooms/!a%2Fb%3Amatrix.test/send/m.room.message/${MESSAGE.id}`,
  ])
  expect(headers.authorization).toBe(`Bearer ${SECRET}`)
  const { msgtype, formatted_body } = JSON.parse(body)
  expect(msgtype).toBe('m.text')
  expect(formatted_body).toContain('nginx &lt;est&gt; en panne.<br>Revenez')
})

test.each([
  ['info', 3, 3, 'info'],
  ['warning', 4, 5, 'warning'],
  ['critical', 5, 8, 'failure'],
] as const)('%s has a priority for each kind', async (severity, ntfy, gotify, type) => {
  const receiver = await httpReceiver()
  for (const [kind, plain, secrets] of KINDS.filter(([each]) => ['ntfy', 'gotify', 'apprise'].includes(each)))
    await send(channel(kind, { url: receiver.url, ...plain }, secrets), { ...MESSAGE, severity })

  const bodies = receiver.received.map(({ body }) => JSON.parse(body))
  expect(bodies.map((body) => body.priority ?? body.type)).toEqual([ntfy, gotify, type])
})

test('a long text is cut at a character, so that ntfy makes no attachment of it', async () => {
  const receiver = await httpReceiver()

  await send(channel('ntfy', { url: receiver.url, topic: 'a' }), { ...MESSAGE, text: '😀'.repeat(5_000), link: null })

  const { message, click } = JSON.parse(receiver.received[0]?.body ?? '')
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_000)
  expect(message).toMatch(/^(😀)+…$/u)
  expect(click).toBeUndefined()
})

/** Each secret and the forms in which a receiver may send it back. */
const echo: Answer = (response, { headers, path, body }) => {
  const all = Buffer.from(SECRET)
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    all.toString('hex'),
    all.toString('base64'),
    Buffer.concat([Buffer.from('u:'), all, Buffer.from(':p')]).toString('base64'),
    JSON.stringify({ SECRET }),
  ]
  response.writeHead(400)
  response.end(`${path} ${JSON.stringify(headers)} ${body.length} ${forms.join(' ')} why not`)
}

test.each(KINDS)('%s: a receiver that sends the secret back shows it to nobody', async (kind, plain, secrets) => {
  const receiver = await httpReceiver(echo)
  const error: unknown = await send(channel(kind, { url: receiver.url, ...plain }, secrets)).catch((each) => each)

  const text = `${error} ${JSON.stringify(error)}`
  expect(text).toMatch(/a répondu HTTP 400 : /)
  expect(text).toContain('•••')
  expect(text).not.toContain('s3cr3t')
  expect(text).not.toContain(Buffer.from('s3cr3t').toString('hex'))
  expect(text).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 12))
  expect(error).not.toHaveProperty('cause')
})

test('a secret that the end of a cut answer begins with is hidden, too', async () => {
  const receiver = await httpReceiver((response) => {
    response.writeHead(400)
    response.end(`${' '.repeat(4_080)}${SECRET}${'x'.repeat(1000)}`)
  })

  const sent = send(channel('gotify', { url: receiver.url }, { token: SECRET }))

  await expect(sent).rejects.toThrow(/HTTP 400 : •••$/)
})

test('a redirect is a failure, and its target gets nothing, neither message nor secret', async () => {
  const other = await httpReceiver()
  for (const status of [301, 302, 303, 307, 308])
    for (const [kind, plain, secrets] of KINDS) {
      const receiver = await httpReceiver((response) => {
        response.writeHead(status, { location: `${other.url}/steal` })
        response.end()
      })
      const sent = send(channel(kind, { url: receiver.url, ...plain }, secrets))
      await expect(sent).rejects.toThrow(`renvoie ailleurs (HTTP ${status})`)
      expect(receiver.received).toHaveLength(1)
    }

  expect(other.received).toEqual([])
})

test.each<[string, RegExp, Answer]>([
  [
    'an error',
    /a répondu HTTP 500 : down for now$/,
    (response) => response.writeHead(500).end('down\r\n for  now\u0007'),
  ],
  ['an error without words', /a répondu HTTP 503\.$/, (response) => response.writeHead(503).end()],
  ['a cut connection', /ne répond pas \(UND_ERR_SOCKET\)/, (response) => response.destroy()],
  [
    'a megabyte of headers',
    /ne répond pas \(\w+\)/,
    (response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${'x-filler: y\r\n'.repeat(90_000)}\r\n`)
    },
  ],
  [
    'no HTTP at all',
    /ne répond pas \(.+\)/,
    (response) => {
      response.socket?.end('220 mail.test ESMTP\r\n')
    },
  ],
])('%s is a failure that says so', async (_, expected, answer) => {
  const receiver = await httpReceiver(answer)

  await expect(send(channel('gotify', { url: receiver.url }, { token: SECRET }))).rejects.toThrow(expected)
})

test('a receiver that hangs is given up after the time for an attempt, and one that nobody listens on at once', async () => {
  const receiver = await httpReceiver(() => {})
  const closed = `http://127.0.0.1:${await freePort()}`

  await expect(send(channel('gotify', { url: receiver.url }, { token: SECRET }), MESSAGE, 200)).rejects.toThrow(
    'n’a pas répondu à temps',
  )
  await expect(send(channel('gotify', { url: closed }, { token: SECRET }))).rejects.toThrow('(ECONNREFUSED)')
})

test('of an endless answer the beginning is read, and its status counts', async () => {
  let written = 0
  const receiver = await httpReceiver((response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024, 'y')
    const more = () => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length
    }
    response.on('drain', more)
    more()
  })

  await expect(send(channel('gotify', { url: receiver.url }, { token: SECRET }))).rejects.toThrow(
    'comme un serveur gotify',
  )
  const { status, answer } = await send(channel('webhook', { url: receiver.url }, { secret: SECRET }))

  expect(status).toBe(200)
  expect(answer).toBe(`${'y'.repeat(499)}…`)
  expect(written).toBeLessThan(64 * 1024 * 1024)
})

test('a certificate of its own is refused before anything is sent, unless the channel allows it', async () => {
  const receiver = await httpReceiver(undefined, { secure: true })
  const strict = channel('gotify', { url: receiver.url }, { token: SECRET })

  await expect(send(strict)).rejects.toThrow(
    `Le certificat de ${receiver.url} est auto-signé, et le canal ne l’accepte pas.`,
  )
  expect(receiver.received).toEqual([])
  await send({ ...strict, plain: { ...strict.plain, allow_self_signed: true } })
  expect(receiver.received).toHaveLength(1)
})

async function mailTo(options: MailOptions, plain: OpenChannel['plain'] = {}, secrets: OpenChannel['secrets'] = {}) {
  const server = await mailServer(options)
  const to = channel(
    'email',
    { host: '127.0.0.1', port: server.port, security: 'none', from: 'panel@pve.test', to: ['a@x.test'], ...plain },
    secrets,
  )
  return { server, to, sent: (withinMs = 10_000) => sendMail(to, MESSAGE, { signal: never, withinMs }) }
}

test('a mail has text and HTML, an encoded subject, the same id each time, and nothing from elsewhere', async () => {
  const { server, sent } = await mailTo({}, { to: ['a@x.test', 'b@x.test'] })

  expect(await sent()).toEqual({ status: 250, answer: '250 2.0.0 queued as 4D2', refused: null })
  await sent()

  expect(server.mails.map(({ from, to }) => ({ from, to }))).toEqual([
    { from: 'panel@pve.test', to: ['a@x.test', 'b@x.test'] },
    { from: 'panel@pve.test', to: ['a@x.test', 'b@x.test'] },
  ])
  const [{ data } = Object()] = server.mails
  const [head = '', ...parts] = data.split('\r\n\r\n')
  expect(head).toMatch(/^[\x20-\x7e\r\n]+$/)
  expect(head).toMatch(/^Subject: =\?UTF-8\?[QB]\?/m)
  expect(head).toContain(`Message-ID: <${MESSAGE.id}@pve.test>`)
  expect(head).toContain('Auto-Submitted: auto-generated')
  expect(head).toContain(`X-Panel-Delivery: ${MESSAGE.id}`)
  expect(head).toMatch(/^Date: Sun, 01 Mar 2026 12:00:00 \+0000/m)
  expect(head).toMatch(/^Content-Type: multipart\/alternative/m)
  const whole = parts.join('\n').replace(/=\r\n/g, '')
  expect(whole).toContain('nginx &lt;est&gt; en panne.')
  expect(whole).not.toMatch(/<img|<link|src=3D|<script/i)
})

test('a title cannot add a header, and a text cannot end the mail', async () => {
  const { server, to } = await mailTo({})
  const title = 'a\r\nBcc: thief@x.test\r\n\r\nbody'
  const text = 'one\r\n.\r\nRCPT TO:<thief@x.test>\r\n'

  await sendMail(to, { ...MESSAGE, title, text }, { signal: never })

  expect(server.mails).toHaveLength(1)
  expect(server.mails[0]?.to).toEqual(['a@x.test'])
  expect(server.mails[0]?.data.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m)
  expect(server.lines.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<a@x.test>'])
})

const PASSWORD = 'correct horse'
const AUTH = { auth: { user: 'panel', password: PASSWORD } }

test.each([
  ['starttls', { starttls: true }],
  ['tls', { tls: true }],
] as const)('by %s the mail and the password go over TLS alone', async (security, offers) => {
  const plain = { security, username: 'panel', allow_self_signed: true }
  const { server, sent } = await mailTo({ ...offers, ...AUTH }, plain, { password: PASSWORD })

  await sent()

  expect(server.mails.map(({ secure, user }) => ({ secure, user }))).toEqual([{ secure: true, user: 'panel' }])
  await expect.poll(() => server.connections()).toBe(0)
})

test('starttls that the server does not offer, or whose certificate is its own, is a failure before any password', async () => {
  const plain = { security: 'starttls', username: 'panel' } as const
  const without = await mailTo({ ...AUTH }, { ...plain, allow_self_signed: true }, { password: PASSWORD })
  const strict = await mailTo({ starttls: true, ...AUTH }, plain, { password: PASSWORD })

  await expect(without.sent()).rejects.toThrow(/127\.0\.0\.1:\d+ /)
  await expect(strict.sent()).rejects.toThrow(/127\.0\.0\.1:\d+ /)

  for (const { server } of [without, strict]) {
    expect(server.mails).toEqual([])
    expect(server.lines.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([])
  }
})

test('a wrong password is told in the server’s own words, without the password', async () => {
  const plain = { security: 'tls', username: 'panel', allow_self_signed: true } as const
  const { server, sent } = await mailTo({ tls: true, ...AUTH }, plain, { password: 'not-the-password' })

  const error: unknown = await sent().catch((each) => each)

  expect(String(error)).toContain('a répondu : 535 5.7.8 wrong: panel with •••')
  expect(String(error)).not.toContain('not-the-password')
  expect(String(error)).not.toContain(Buffer.from('not-the-password').toString('base64').slice(2, 16))
  expect(server.mails).toEqual([])
})

test('recipients that the server refuses are named, and the others get the mail once', async () => {
  const { server, sent } = await mailTo({ refuses: ['b@x.test'] }, { to: ['a@x.test', 'b@x.test'] })

  const { refused } = await sent()

  expect(refused).toMatch(/refuse ces destinataires : b@x\.test$/)
  expect(server.mails.map(({ to }) => to)).toEqual([['a@x.test']])
})

test.each<[string, MailOptions, RegExp]>([
  ['a server that refuses the mail', { answers: { DATA: () => '451 4.3.0 try again later' } }, /451 4\.3\.0 try again/],
  ['a server that is full of words', { answers: { MAIL: () => `550 ${'no '.repeat(9_000)}` } }, /127\.0\.0\.1:\d+ /],
  ['no SMTP', { answers: { EHLO: () => 'HTTP/1.1 400 Bad Request', HELO: () => 'HTTP/1.1 400' } }, /127\.0\.0\.1:\d+ /],
])('%s is a failure that says so', async (_, options, expected) => {
  const { server, sent } = await mailTo(options)

  await expect(sent()).rejects.toThrow(expected)

  expect(server.mails).toEqual([])
})

test('a mail server that never greets is given up after the time for an attempt, with its connection closed', async () => {
  const { server, sent } = await mailTo({ silent: true })

  await expect(sent(300)).rejects.toThrow('n’a pas répondu à temps')

  await expect.poll(() => server.connections()).toBe(0)
})
