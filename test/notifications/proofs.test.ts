import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import type { ChannelKind } from '../../notifications/channel.ts'
import type { OpenChannel } from '../../notifications/channel-secrets.ts'
import { whyUnreachable } from '../../notifications/connection-errors.ts'
import { sendByHttp } from '../../notifications/http-sender.ts'
import { sendMail } from '../../notifications/mail-sender.ts'
import type { Outgoing } from '../../notifications/outgoing.ts'
import { selfSigned } from '../spec/certificate.ts'
import { type Answer, httpReceiver, mailServer, TAKEN } from './receivers.ts'

const MESSAGE: Outgoing = {
  id: '0a1b2c3d4e5f60718293a4b5',
  at: '2026-03-01T12:00:00.000Z',
  title: 'Trois conteneurs',
  text: 'Avant.\n- web <1>\n- db\nAprès.',
  link: null,
  severity: 'info',
  event: 'test',
  target: null,
}
const never = new AbortController().signal

function channel(kind: ChannelKind, plain: OpenChannel['plain'], secrets: OpenChannel['secrets']): OpenChannel {
  const chosen = { events: [], targets: 'all', minimum: 'info', quiet: null, language: 'fr', output: false } as const
  return { id: 'c1', name: 'Astreinte', kind, plain, secrets, chosen: { ...chosen, events: [] } }
}

const send = (to: OpenChannel, message = MESSAGE) =>
  sendByHttp(to, message, { now: new Date(MESSAGE.at), signal: never })

const KINDS: [ChannelKind, OpenChannel['plain'], OpenChannel['secrets']][] = [
  ['ntfy', { topic: 'ops' }, {}],
  ['gotify', {}, { token: 't' }],
  ['matrix', { room: '!a:b' }, { token: 't' }],
]
const PORTAL: [string, Answer][] = [
  ['the page of a captive portal', (response) => response.end('<html>Connectez-vous</html>')],
  ['JSON of something else', (response) => response.end('{"ok":true}')],
  ['JSON with an empty id', (response) => response.end('{"id":"","event_id":""}')],
  ['nothing', (response) => response.writeHead(204).end()],
]

test.each(KINDS.flatMap((kind) => PORTAL.map((answer) => [...kind, ...answer] as const)))(
  '%s: a 200 is no delivery with %s',
  async (kind, plain, secrets, _, answer) => {
    const receiver = await httpReceiver(answer)
    await expect(send(channel(kind, { ...plain, url: receiver.url }, secrets))).rejects.toThrow(
      `${receiver.url} n’a pas répondu comme un serveur ${kind} (HTTP 20`,
    )
  },
)

test.each(KINDS)('%s: the answer of the service itself is a delivery, however long', async (kind, plain, secrets) => {
  const long = JSON.stringify({ ...JSON.parse(TAKEN), message: '<é'.repeat(20_000) })
  const receiver = await httpReceiver((response) => response.end(long))
  const taken = await send(channel(kind, { ...plain, url: receiver.url }, secrets))
  expect(taken.status).toBe(200)
  expect(taken.answer.length).toBeLessThanOrEqual(500)
})

const trusted = getCACertificates('default')
afterEach(() => setDefaultCACertificates(trusted))

test.each([
  ['for another name', selfSigned('other.test'), true, 'est à un autre nom.'],
  [
    'that has expired',
    selfSigned('localhost', { from: new Date('2020-01-01'), until: new Date('2020-02-01') }),
    true,
    'a expiré.',
  ],
  ['that is self-signed', selfSigned('localhost'), false, 'est auto-signé, et le canal ne l’accepte pas.'],
] as const)(
  'a mail server with a certificate %s gets nothing, and is said to have it',
  async (_, own, isTrusted, why) => {
    if (isTrusted) setDefaultCACertificates([...trusted, own.cert])
    const server = await mailServer({ tls: true, certificate: own })
    const mail = { host: 'localhost', port: server.port, security: 'tls', from: 'a@b.test', to: ['c@d.test'] } as const
    const to = channel('email', { ...mail, to: [...mail.to] }, {})

    await expect(sendMail(to, MESSAGE, { signal: never })).rejects.toThrow(
      `Le certificat de localhost:${server.port} ${why}`,
    )
    expect(server.lines).toEqual([])
  },
)

test('a name that does not exist is said to be so, to both senders', async () => {
  const mail = { host: 'nothing.invalid', port: 25, security: 'none', from: 'a@b.test', to: ['c@d.test'] } as const
  const sentence = /^(Le nom nothing\.invalid n’existe pas dans le DNS|Le DNS ne répond pas, le nom nothing\.invalid)/

  await expect(
    sendMail(channel('email', { ...mail, to: [...mail.to] }, {}), MESSAGE, { signal: never }),
  ).rejects.toThrow(sentence)
  await expect(send(channel('webhook', { url: 'https://nothing.invalid/x' }, { secret: 's' }))).rejects.toThrow(
    sentence,
  )
})

test.each([
  ['ENOTFOUND', 'Le nom mail.test n’existe pas dans le DNS.'],
  ['EAI_AGAIN', 'Le DNS ne répond pas, le nom mail.test n’a donc pas été trouvé.'],
  ['CERT_NOT_YET_VALID', 'Le certificat de mail.test:25 n’est pas encore valable'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'Le certificat de mail.test:25 n’est signé par aucune autorité connue.'],
])('%s is told as a sentence', (code, sentence) => {
  expect(whyUnreachable(Object.assign(new Error('x'), { code }), 'mail.test:25', 'mail.test')).toContain(sentence)
  expect(whyUnreachable(new Error(`queryA ${code} mail.test`), 'mail.test:25', 'mail.test')).toContain(sentence)
})

test('other errors keep their code', () => {
  expect(whyUnreachable(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'a:1', 'a')).toBeUndefined()
  expect(whyUnreachable('ENOTFOUND', 'a:1', 'a')).toBeUndefined()
})

test('several events of a mail are a list, in which nothing is markup', async () => {
  const server = await mailServer({})
  const mail = { host: '127.0.0.1', port: server.port, security: 'none', from: 'a@b.test', to: ['c@d.test'] } as const

  await sendMail(channel('email', { ...mail, to: [...mail.to] }, {}), MESSAGE, { signal: never })

  const html = server.mails[0]?.data.split('text/html')[1] ?? ''
  const text = html.replaceAll(/=\r?\n/g, '')
  expect(text).toContain('<ul><li>web &lt;1&gt;</li><li>db</li></ul>')
  expect(text).toMatch(/Avant\.<\/p><ul>/)
  expect(text).not.toContain('- web')
})
