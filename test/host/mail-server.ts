import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'

const run = promisify(execFile)
/** The account of Debian's package exim4-daemon-light, which delivers the mail. */
const ACCOUNT = 'Debian-exim'
/** A start on a busy machine. */
const START_MS = 60_000

/** A user that may send mail through the server. */
export interface MailUser {
  name: string
  password: string
}

/** A real mail server, Debian's Exim, that puts all mail into one folder. */
export interface MailServer {
  port: number
  /** All messages that have arrived, oldest first, as they are on the disk. */
  messages(): Promise<string[]>
  /** Its log, with a line for each step of each message. */
  log(): Promise<string>
  /** Ends it; it keeps its port and its mail. A connection that it has taken goes on to its end. */
  stop(): Promise<void>
  /** Starts it again; does nothing while it runs. */
  start(): Promise<void>
  /** Ends it and removes its folder. */
  remove(): Promise<void>
}

/**
 * Starts a mail server. With a user it offers STARTTLS with a certificate that nobody has signed, offers AUTH only after
 * it, and takes mail from that user alone; without one it has neither, and takes any mail.
 */
export async function startMailServer(user?: MailUser): Promise<MailServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-mail-'))
  const port = await freePort()
  for (const name of ['spool', 'log', 'box']) await mkdir(join(folder, name))
  const tls = user ? await newCertificate(folder) : undefined
  await run('chown', ['-R', `${ACCOUNT}:`, folder])
  // Exim takes its configuration from root alone.
  const file = join(folder, 'exim.conf')
  await writeFile(file, configuration(folder, port, tls, user), { mode: 0o644 })

  let child: ChildProcess | undefined
  const killed = () => child?.kill('SIGKILL')
  process.once('exit', killed)
  const server: MailServer = {
    port,
    async messages() {
      const names = await readdir(join(folder, 'box', 'new')).catch(() => [])
      return Promise.all(names.sort().map((name) => readFile(join(folder, 'box', 'new', name), 'latin1')))
    },
    log: () => readFile(join(folder, 'log', 'mainlog'), 'utf8').catch(() => ''),
    async start() {
      if (child && isRunning(child)) return
      let said = ''
      const started = spawn('/usr/sbin/exim4', ['-C', file, '-bdf'], { stdio: ['ignore', 'ignore', 'pipe'] })
      started.stderr.setEncoding('utf8').on('data', (text) => (said += text))
      child = started
      const began = Date.now()
      while (!(await greets(port))) {
        if (!isRunning(started) || Date.now() - began > START_MS)
          throw new Error(`the mail server did not start: ${said} ${await server.log()}`)
        await pause(50)
      }
    },
    async stop() {
      if (!child || !isRunning(child)) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
    async remove() {
      await server.stop()
      process.off('exit', killed)
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
  try {
    await server.start()
  } catch (error) {
    await server.remove()
    throw error
  }
  return server
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

async function newCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mail.test'
  await run('openssl', [...words.split(' '), '-keyout', key, '-out', certificate])
  return { certificate, key }
}

function configuration(
  folder: string,
  port: number,
  tls: { certificate: string; key: string } | undefined,
  user: MailUser | undefined,
): string {
  return `
primary_hostname = mail.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
disable_ipv6
keep_environment =
deliver_drop_privilege
host_lookup =
smtp_enforce_sync
tls_advertise_hosts = ${tls ? '*' : ''}
${tls ? `tls_certificate = ${tls.certificate}\ntls_privatekey = ${tls.key}` : ''}
auth_advertise_hosts = \${if def:tls_in_cipher {*}{}}
acl_smtp_rcpt = rcpt

begin acl
rcpt:
  ${user ? 'accept authenticated = *\n  deny message = sign in first' : 'accept'}

begin routers
all:
  driver = accept
  transport = box

begin transports
box:
  driver = appendfile
  directory = ${folder}/box
  maildir_format
  envelope_to_add
  batch_max = 20
  user = ${ACCOUNT}

begin authenticators
${
  user
    ? `plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_set_id = $auth2
  server_condition = \${if and {{eq {$auth2}{${user.name}}}{eq {$auth3}{${user.password}}}}}`
    : ''
}
`
}

/** Whether a mail server greets on this port. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 5_000 })
    const told = (isUp: boolean) => {
      socket.end('QUIT\r\n')
      socket.destroySoon()
      resolve(isUp)
    }
    socket.once('data', (data) => told(data.toString().startsWith('220 ')))
    socket.once('timeout', () => told(false))
    socket.once('error', () => resolve(false))
  })
}

/** A message as a mail program shows it. */
export interface Mail {
  /** The values of the header fields, unfolded and not decoded, by their names in small letters. */
  fields: ReadonlyMap<string, string>
  /** The subject, decoded. */
  subject: string
  /** The decoded text of each part, by its type, such as `text/plain`. */
  parts: ReadonlyMap<string, string>
}

/** Reads a message: the header fields, and the parts of `multipart/alternative`. */
export function readMail(raw: string): Mail {
  const { fields, body } = split(raw)
  const boundary = /\bboundary="?([^";]+)"?/.exec(fields.get('content-type') ?? '')?.[1]
  const pieces = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1)
  const parts = new Map(
    pieces.map((piece) => {
      const part = split(piece.replace(/^\r?\n/, ''))
      const encoding = part.fields.get('content-transfer-encoding')?.toLowerCase() ?? '7bit'
      return [part.fields.get('content-type')?.split(';')[0] ?? 'text/plain', decoded(part.body, encoding)] as const
    }),
  )
  return { fields, subject: withoutEncodedWords(fields.get('subject') ?? ''), parts }
}

function split(raw: string): { fields: Map<string, string>; body: string } {
  const text = raw.replaceAll('\r\n', '\n')
  const at = text.indexOf('\n\n')
  const lines = text.slice(0, at).replaceAll(/\n[ \t]+/g, ' ')
  const fields = new Map(
    lines.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  return { fields, body: text.slice(at + 2) }
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1').toString('utf8')
  return fromHex(body.replaceAll(/=\r?\n/g, ''))
}

/** Decodes the encoded words of RFC 2047. */
function withoutEncodedWords(value: string): string {
  return value
    .replaceAll(/(=\?[^?]+\?[bqBQ]\?[^?]*\?=)\s+(?==\?)/g, '$1')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, how: string, text: string) =>
      how.toLowerCase() === 'b' ? Buffer.from(text, 'base64').toString('utf8') : fromHex(text.replaceAll('_', ' ')),
    )
}

function fromHex(text: string): string {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
