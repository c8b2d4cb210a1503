import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { closeServer } from '../close-server.ts'
import { closedAtEnd } from '../closed-at-end.ts'
import { selfSigned } from '../spec/certificate.ts'

export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** The answer of a service that has taken a message, as ntfy, Gotify and Matrix give it in one. */
export const TAKEN = '{"id":"hwQ2YpKdmg","event_id":"$YUwRidLecu"}'

/** Whether a request is one for a service whose answer has to prove that it took the message. */
const wantsProof = ({ method, headers, body }: Received) =>
  method === 'PUT' || 'x-gotify-key' in headers || body.includes('"topic":')

/** Answers a request. By default 200 with a few words, or with what the service answers that is asked for. */
export type Answer = (response: ServerResponse, received: Received) => void

export interface HttpReceiver {
  url: string
  received: Received[]
  answer: Answer
  close(): Promise<void>
}

/** A receiver of HTTP on the loopback, which records what it gets. It is closed at the end of the test. */
export function httpReceiver(answer?: Answer, { secure = false } = {}): Promise<HttpReceiver> {
  const open = async (): Promise<HttpReceiver> => {
    const server = secure ? createSecureServer(selfSigned('127.0.0.1')) : createHttpServer()
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method = '', url = '', headers } = request
      const received = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
      receiver.received.push(received)
      receiver.answer(response, received)
    })
    server.on('clientError', (_, socket) => socket.destroy())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const receiver: HttpReceiver = {
      url: `${secure ? 'https' : 'http'}://127.0.0.1:${portOf(server)}`,
      received: [],
      answer: answer ?? ((response, received) => response.end(wantsProof(received) ? TAKEN : 'taken')),
      close: () => closeServer(server),
    }
    return receiver
  }
  return closedAtEnd(open())
}

export interface Mail {
  from: string
  to: string[]
  data: string
  /** Whether the mail came over TLS. */
  secure: boolean
  user: string | undefined
}

export interface MailServer {
  port: number
  mails: Mail[]
  /** Every line that a client sent, in order, with passwords. */
  lines: string[]
  connections(): number
  close(): Promise<void>
}

export interface MailOptions {
  /** Offers STARTTLS. */
  starttls?: boolean
  /** Speaks TLS from the start. */
  tls?: boolean
  /** The certificate for TLS; by default a self-signed one. */
  certificate?: { cert: string; key: string }
  auth?: { user: string; password: string }
  /** Recipients that are refused. */
  refuses?: readonly string[]
  /** Replaces the answer to a command, by its first word. */
  answers?: Readonly<Record<string, (line: string) => string>>
  /** Never greets. */
  silent?: boolean
}

/** A server of SMTP on the loopback, with as much of RFC 5321 as a client uses. It is closed at the end of the test. */
export function mailServer(options: MailOptions = {}): Promise<MailServer> {
  const open = async (): Promise<MailServer> => {
    const context = createSecureContext(options.certificate ?? selfSigned('127.0.0.1'))
    const sockets = new Set<Socket>()
    const server = createTcpServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => {})
      const own = options.tls ? new TLSSocket(socket, { isServer: true, secureContext: context }) : socket
      own.on('error', () => {})
      if (!options.silent) converse(own, options.tls === true, true)
    })
    const converse = (socket: Socket, secure: boolean, greets: boolean) => {
      const mail: Mail = { from: '', to: [], data: '', secure, user: undefined }
      let [text, inData] = ['', false]
      const say = (line: string) => socket.write(`${line}\r\n`)
      if (greets) say('220 mail.test ESMTP')
      const command = (line: string) => {
        mailServer.lines.push(line)
        const word = (line.split(' ')[0] ?? '').toUpperCase()
        const other = options.answers?.[word]
        if (other) return say(other(line))
        if (word === 'EHLO') {
          say('250-mail.test')
          if (options.starttls && !secure) say('250-STARTTLS')
          if (options.auth) say('250-AUTH PLAIN')
          return say('250 8BITMIME')
        }
        if (word === 'STARTTLS' && options.starttls) {
          say('220 go ahead')
          socket.removeAllListeners('data')
          const over = new TLSSocket(socket, { isServer: true, secureContext: context })
          over.on('error', () => {})
          return converse(over, true, false)
        }
        if (word === 'AUTH') {
          const [, user = '', password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
            .toString()
            .split('\0')
          const isRight = user === options.auth?.user && password === options.auth.password
          if (isRight) mail.user = user
          return say(isRight ? '235 ok' : `535 5.7.8 wrong: ${user} with ${password} (${line.split(' ')[2]})`)
        }
        const [, address = ''] = /<([^>]*)>/.exec(line) ?? []
        if (word === 'MAIL') {
          mail.from = address
          return say('250 ok')
        }
        if (word === 'RCPT') {
          if (options.refuses?.includes(address)) return say(`550 5.1.1 no such user ${address}`)
          mail.to.push(address)
          return say('250 ok')
        }
        if (word === 'DATA') {
          inData = true
          return say('354 go on')
        }
        if (word === 'STARTTLS') return say('502 5.5.1 not here')
        if (word === 'QUIT') return socket.end('221 bye\r\n')
        say('250 ok')
      }
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8')
        for (;;) {
          const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n')
          if (end < 0) return
          const piece = text.slice(0, end)
          text = text.slice(end + (inData ? 5 : 2))
          if (!inData) command(piece)
          else {
            inData = false
            mailServer.mails.push({ ...mail, data: piece })
            say('250 2.0.0 queued as 4D2')
          }
        }
      })
    }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const mailServer: MailServer = {
      port: portOf(server),
      mails: [],
      lines: [],
      connections: () => sockets.size,
      async close() {
        if (!server.listening) return
        const closed = once(server, 'close')
        server.close()
        for (const socket of sockets) socket.destroy()
        await closed
      },
    }
    return mailServer
  }
  return closedAtEnd(open())
}

function portOf(server: Server): number {
  return Object(server.address()).port
}
