import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../db/folder.ts'

/** Serves a folder, and counts what is asked for in a file. A process of its own, because the scripts run synchronously. */
const SERVER = `
const { createServer } = require('node:http')
const { appendFileSync, readFileSync } = require('node:fs')
const folder = process.argv[1]
createServer((request, response) => {
  appendFileSync(folder + '/asked', request.url + '\\n')
  try {
    const text = readFileSync(folder + '/site' + request.url)
    response.end(text)
  } catch {
    response.writeHead(404).end('nothing is here')
  }
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

/**
 * A folder that the scripts take for the root of a container, with this machine's own curl, wget and bash, and a server that
 * gives texts by their path.
 */
export async function scriptPlace(texts: Record<string, string> = {}) {
  const folder = await temporaryFolder()
  const root = join(folder, 'root')
  for (const each of ['root', 'opt', 'usr/bin', 'etc/profile.d', 'var/tmp'])
    await mkdir(join(root, each), { recursive: true })
  await mkdir(join(folder, 'site'))
  const server = spawn(process.execPath, ['-e', SERVER, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    server.kill()
  })
  const [first] = await once(server.stdout.setEncoding('utf8'), 'data')
  const base = `http://127.0.0.1:${Number(first)}`

  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  /** Puts a text at a path of the server; `@` stands for the server's address. */
  const serve = (path: string, text: string) => write(join(folder, 'site', path), text.replaceAll('@', base))
  /** Puts a file into the container. */
  const put = (path: string, text: string) => write(join(root, path), text.replaceAll('@', base))
  for (const [path, text] of Object.entries(texts)) serve(path, text)

  const rooted = (text: string) =>
    text.replaceAll(/(?<=[ ="(#/])\/(?=root\b|opt\/|usr\/bin\/update|etc\/profile\.d|var\/tmp)/g, `${root}/`)

  /** Runs a script of the service in the container. */
  const shell = (text: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', rooted(text), 'name', ...args], {
      env: { PATH: process.env.PATH, PLACE: root },
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 64 * 1024 * 1024,
    })
    return { status, stdout, stderr, lines: stdout.split('\n').slice(0, -1) }
  }
  const asked = () =>
    spawnSync('cat', [join(folder, 'asked')], { encoding: 'utf8' })
      .stdout.split('\n')
      .slice(0, -1)
  const forget = () => rmSync(join(folder, 'asked'), { force: true })
  return { base, root, serve, put, shell, asked, forget }
}
