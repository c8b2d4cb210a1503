import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type OnTestFinished, temporaryFolder } from '../db/folder.ts'
import { freePort } from '../free-port.ts'
import { selfSigned } from '../spec/certificate.ts'

const GUIDE = join(import.meta.dirname, '../../docs/operate.md')
const START_MS = 20_000

export type ProxyName = 'nginx' | 'caddy'

/** The name that the guide's proxies serve. */
export const NAME = 'panel.example'

/** Replacements for words of the guide; each word must occur in its snippet. */
type Replacements = Record<string, string>

/** Starts a real proxy in front of a service, configured as in docs/operate.md except for ports and certificates. */
export async function startProxy(name: ProxyName, upstream: string, onFinished: OnTestFinished) {
  const folder = await temporaryFolder(onFinished)
  const port = await freePort()
  const { cert, key } = selfSigned(NAME)
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await writeFile(certFile, cert)
  await writeFile(keyFile, key)
  const here = { folder, port, upstream: new URL(upstream).host, cert: certFile, key: keyFile }
  const config = join(folder, 'config')
  await writeFile(config, await configure[name](here))

  const [program, ...words] = commands[name](config)
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = once(child, 'close')
  onFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const began = performance.now()
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() - began > START_MS) throw new Error(`${name}: ${said}`)
    await pause(50)
  }
  return { port, url: `https://${NAME}:${port}`, cert }
}

interface Here {
  folder: string
  port: number
  upstream: string
  cert: string
  key: string
}

const configure: Record<ProxyName, (here: Here) => Promise<string>> = {
  async nginx({ folder, port, upstream, cert, key }) {
    const site = await snippet('nginx', {
      'listen 443': `listen 127.0.0.1:${port}`,
      '127.0.0.1:8080': upstream,
      [`/etc/letsencrypt/live/${NAME}/fullchain.pem`]: cert,
      [`/etc/letsencrypt/live/${NAME}/privkey.pem`]: key,
      // Spares the test two minutes; still longer than the 25 s between two pings.
      'proxy_read_timeout 120s': 'proxy_read_timeout 30s',
    })
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (each) => `${each}_temp_path ${folder}/${each};`,
    )
    return [
      'user root; daemon off; worker_processes 1; error_log stderr;',
      `pid ${folder}/pid; events {}`,
      `http { access_log off; ${places.join(' ')}`,
      site,
      '}',
    ].join('\n')
  },
  async caddy({ port, upstream, cert, key }) {
    const site = await snippet('caddy', {
      [`${NAME} {`]: `https://${NAME}:${port} {\n    tls ${cert} ${key}`,
      '127.0.0.1:8080': upstream,
    })
    return ['{', 'admin off', 'auto_https disable_redirects', 'default_bind 127.0.0.1', '}', site].join('\n')
  },
}

const commands: Record<ProxyName, (config: string) => [string, ...string[]]> = {
  nginx: (config) => ['nginx', '-c', config],
  caddy: (config) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
}

/** Returns the first code block of the guide in this language. */
async function snippet(language: ProxyName, replacements: Replacements): Promise<string> {
  const guide = await readFile(GUIDE, 'utf8')
  let text = guide.split(`\n\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? ''
  for (const [before, after] of Object.entries(replacements)) {
    if (!text.includes(before)) throw new Error(`the guide's snippet for ${language} has no « ${before} »`)
    text = text.replace(before, after)
  }
  return text
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).then((answer) => {
    socket.destroy()
    return answer === true
  })
}
