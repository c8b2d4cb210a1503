import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { connect as connectInClear } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import health from '../../functions/health/health.get.ts'
import { every } from '../../platform/certificate.ts'
import { testApp } from '../app.ts'
import { temporaryFolder } from '../db/folder.ts'
import { selfSigned } from '../spec/certificate.ts'
import { listening } from '../serve/listening.ts'

type Pair = ReturnType<typeof selfSigned>

const KEPT = 'the TLS files are not good, the former certificate stays in use'
const RENEWED = 'TLS certificate renewed'

/** The service's server with a certificate named `first`, which looks at its files when the test says so. */
async function serve(first: Pair = selfSigned('first'), lay = layFiles) {
  const folder = await temporaryFolder()
  const tls = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  await lay(folder, first)
  const { services, lines, advance } = await testApp([health])
  let lookOnce: (() => Promise<void>) | undefined
  const repeat = (look: () => Promise<void>) => {
    lookOnce = look
    return () => {
      lookOnce = undefined
    }
  }
  const { url, server } = await listening(services, { functions: [health], tls, repeat })
  const port = Number(new URL(url).port)
  return {
    folder,
    tls,
    port,
    server,
    advance,
    isLooking: () => lookOnce !== undefined,
    async look(times = 1) {
      for (let time = 0; time < times; time += 1) await lookOnce?.()
    },
    /** Returns the name on the certificate that a new connection gets. */
    shown: () => shown(port),
    logged: () => lines().flatMap((line) => /"msg":"([^"]*TLS[^"]*)"/.exec(line)?.[1] ?? []),
    lines,
  }
}

/** The way in which an administrator copies them. */
async function layFiles(folder: string, { cert, key }: Pair): Promise<void> {
  await writeFile(join(folder, 'tls.crt'), cert)
  await writeFile(join(folder, 'tls.key'), key)
}

async function open(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

async function shown(port: number): Promise<string> {
  const socket = await open(port)
  const subject = socket.getPeerX509Certificate()?.subject ?? ''
  socket.destroy()
  return subject.replace('CN=', '')
}

/** Sends a request on a connection that stays open; returns the status line. */
async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET /api/health HTTP/1.1\r\nHost: panel.test\r\n\r\n')
  const [bytes] = await once(socket, 'data')
  return String(bytes).split('\r\n', 1)[0] ?? ''
}

/** certbot: two links, each of them replaced. */
async function layAsCertbot(folder: string, { commonName, cert, key }: Pair): Promise<void> {
  for (const [name, content] of [
    ['tls.crt', cert],
    ['tls.key', key],
  ] as const) {
    await writeFile(join(folder, `${name}.${commonName}`), content)
    await rm(join(folder, name), { force: true })
    await symlink(`${name}.${commonName}`, join(folder, name))
  }
}

/** Kubernetes: links through a folder that is itself a link. */
async function layAsKubernetes(folder: string, pair: Pair): Promise<void> {
  await mkdir(join(folder, pair.commonName))
  await layFiles(join(folder, pair.commonName), pair)
  await symlink(pair.commonName, join(folder, '..fresh'))
  await rename(join(folder, '..fresh'), join(folder, '..data'))
  for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(folder, name)).catch(() => {})
}

async function layByRename(folder: string, pair: Pair): Promise<void> {
  await mkdir(join(folder, 'fresh'), { recursive: true })
  await layFiles(join(folder, 'fresh'), pair)
  for (const name of ['tls.crt', 'tls.key']) await rename(join(folder, 'fresh', name), join(folder, name))
}

test.each([
  ['rewritten in place', layFiles],
  ['replaced by a rename', layByRename],
  ['links that certbot makes to lead elsewhere', layAsCertbot],
  ['links through a folder that Kubernetes exchanges', layAsKubernetes],
])('new connections get a renewed certificate: %s', async (_, lay) => {
  const { folder, look, shown, logged } = await serve(selfSigned('first'), lay)
  expect(await shown()).toBe('first')

  await lay(folder, selfSigned('second'))
  await look(2)

  expect(await shown()).toBe('second')
  await look(2)
  expect(logged()).toEqual([RENEWED])
})

test('an open connection keeps the certificate it began with', async () => {
  const { folder, port, look, shown } = await serve()
  const standing = await open(port)
  expect(await ask(standing)).toBe('HTTP/1.1 200 OK')

  await layFiles(folder, selfSigned('second'))
  await look(2)

  expect(await shown()).toBe('second')
  expect(await ask(standing)).toBe('HTTP/1.1 200 OK')
  expect(standing.getPeerX509Certificate()?.subject).toBe('CN=first')
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a %s session of the previous certificate is not resumed',
  async (version) => {
    const { folder, port, look } = await serve()
    const options = { minVersion: version, maxVersion: version }
    const first = await open(port, options)
    await ask(first)
    const session = first.getSession()
    const again = await open(port, { ...options, session })
    expect(again.isSessionReused()).toBe(true)

    await layFiles(folder, selfSigned('second'))
    await look(2)

    const after = await open(port, { ...options, session })
    expect(after.isSessionReused()).toBe(false)
    expect(after.getPeerX509Certificate()?.subject).toBe('CN=second')
  },
)

test('a half-finished renewal is neither served nor logged; the complete one is', async () => {
  const { tls, look, shown, logged } = await serve()
  const second = selfSigned('second')

  await writeFile(tls.cert, second.cert.slice(0, 300))
  await look()
  await writeFile(tls.cert, second.cert)
  await look()
  expect(await shown()).toBe('first')
  await writeFile(tls.key, second.key)
  await look(2)

  expect(await shown()).toBe('second')
  expect(logged()).toEqual([RENEWED])
})

test.each([
  ['another key', { key: selfSigned().key }, 'n’est pas la clé du certificat'],
  ['a key of another kind', { key: selfSigned('other', { kind: 'rsa' }).key }, 'n’est pas la clé du certificat'],
  ['half a certificate', { cert: selfSigned().cert.slice(0, 300) }, 'un certificat en PEM est attendu dans'],
  ['an empty key', { key: '' }, 'une clé privée en PEM est attendue dans'],
  ['no files', undefined, 'tls.crt ne peut pas être lu (ENOENT'],
])(
  '%s: the previous certificate stays, one line is logged, and the next good one is accepted',
  async (_, wrong, why) => {
    const { folder, tls, look, shown, logged, lines } = await serve()

    if (wrong) await layFiles(folder, { ...selfSigned('wrong'), ...wrong })
    else for (const file of Object.values(tls)) await rm(file)
    await look(4)
    expect(await shown()).toBe('first')
    expect(logged()).toEqual([KEPT])
    expect(lines().find((line) => line.includes(KEPT))).toContain(why)

    await layFiles(folder, selfSigned('second'))
    await look(2)
    expect(await shown()).toBe('second')
    expect(logged()).toEqual([KEPT, RENEWED])
  },
)

test.each([
  ['a pipe', async (file: string) => void execFileSync('mkfifo', [file]), 'ce n’est pas un fichier ordinaire'],
  ['a device', (file: string) => symlink('/dev/zero', file), 'ce n’est pas un fichier ordinaire'],
  ['a very long file', (file: string) => writeFile(file, 'x'.repeat(300_000)), 'il dépasse 256 Kio'],
])('%s in the place of the key is not read, and logged once', async (_, lay, why) => {
  const { tls, look, shown, logged, lines } = await serve()

  await rm(tls.key)
  await lay(tls.key)
  await look(3)

  expect(await shown()).toBe('first')
  expect(logged()).toEqual([KEPT])
  expect(lines().find((line) => line.includes(KEPT))).toContain(why)
})

test('a pair that the server does not accept is logged with the reason, and the previous certificate stays', async () => {
  const { folder, server, look, shown, logged, lines } = await serve()
  Object.assign(server, {
    setSecureContext() {
      throw new Error('no memory for a context')
    },
  })

  await layFiles(folder, selfSigned('second'))
  await look(3)

  expect(await shown()).toBe('first')
  expect(logged()).toEqual([KEPT])
  const line = lines().find((each) => each.includes(KEPT)) ?? ''
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', error: 'no memory for a context' })
})

test('files that return to their previous content are no renewal', async () => {
  const first = selfSigned('first')
  const { folder, tls, look, logged } = await serve(first)

  await rm(tls.key)
  await look(2)
  await layFiles(folder, first)
  await look(3)

  expect(logged()).toEqual([KEPT])
})

test('an unrenewed certificate is logged a week before its end and at its end, and not at each look', async () => {
  const at = (day: number) => new Date(Date.UTC(2026, 2, 1 + day))
  const { folder, look, logged, advance } = await serve(selfSigned('first', { from: at(-60), until: at(30) }))
  const days = 86_400_000
  const [SOON, OVER] = ['the TLS certificate ends soon, and has not been renewed', 'the TLS certificate has expired']

  advance(22 * days)
  await look(2)
  expect(logged()).toEqual([])
  advance(1 * days)
  await look(2)
  expect(logged()).toEqual([SOON])
  advance(7 * days)
  await look(2)
  expect(logged()).toEqual([SOON, OVER])
  await layFiles(folder, selfSigned('second', { from: at(30), until: at(120) }))
  await look(3)
  expect(logged()).toEqual([SOON, OVER, RENEWED])
})

test('a certificate for six days is logged when a quarter of its life is left', async () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour))
  const { look, logged, advance } = await serve(selfSigned('first', { from: at(0), until: at(144) }))

  advance(90 * 3_600_000)
  await look()
  expect(logged()).toEqual([])
  advance(10 * 3_600_000)
  await look()

  expect(logged()).toHaveLength(1)
})

test('an expired certificate is served anyway, and logged at the start', async () => {
  const { shown, logged } = await serve(selfSigned('past', { from: new Date(0), until: new Date(86_400_000) }))

  expect(await shown()).toBe('past')
  expect(logged()).toEqual(['the TLS certificate has expired'])
})

test('the looks stop when the server closes', async () => {
  const { server, isLooking } = await serve()
  expect(isLooking()).toBe(true)

  server.close()
  await once(server, 'close')

  expect(isLooking()).toBe(false)
})

test('the looks repeat, never two at a time, until they are ended', async () => {
  let [looks, atOnce, most] = [0, 0, 0]
  const end = every(1)(async () => {
    looks += 1
    atOnce += 1
    most = Math.max(most, atOnce)
    await pause(10)
    atOnce -= 1
  })
  await expect.poll(() => looks).toBeGreaterThan(3)

  end()

  const last = looks
  // Others, begun later, go on meanwhile.
  let later = 0
  const count = async () => {
    later += 1
  }
  onTestFinished(every(1)(count))
  await expect.poll(() => later).toBeGreaterThan(3)
  expect({ most, looks }).toEqual({ most: 1, looks: last })
})

test('a file of several certificates is served completely, also with an RSA key', async () => {
  const authority = selfSigned('authority')
  const leaf = selfSigned('leaf', { kind: 'rsa', by: authority })
  const { port } = await serve({ ...leaf, cert: leaf.cert + authority.cert })

  const socket = await open(port)

  const own = socket.getPeerX509Certificate()
  expect([own?.subject, own?.issuerCertificate?.subject]).toEqual(['CN=leaf', 'CN=authority'])
})

test.each(['TLSv1', 'TLSv1.1'] as const)('%s is refused', async (version) => {
  const { port } = await serve()

  const opening = open(port, { minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' })

  await expect(opening).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
})

test('a client without TLS is disconnected', async () => {
  const { port, lines } = await serve()
  const before = lines().length
  const socket = connectInClear(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())

  socket.write('GET /api/health HTTP/1.1\r\nHost: panel.test\r\n\r\n')

  expect(await text(socket)).toBe('')
  expect(lines()).toHaveLength(before)
})

test('a client that begins no handshake is disconnected after ten seconds', async () => {
  const { port } = await serve()
  const socket = connectInClear(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())

  await once(socket, 'close')
})
