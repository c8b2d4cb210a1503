import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { freePort } from '../free-port.ts'

/*
 * An image registry on the loopback: version 2 of the API, as far as an engine that resolves a name or pulls an image uses
 * it. Its images have one layer, the busybox of this machine, and differ in their environment.
 */

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const CONFIG = 'application/vnd.docker.container.image.v1+json'
const LIST = 'application/vnd.docker.distribution.manifest.list.v2+json'
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar'

const PLATFORM = { architecture: process.arch === 'arm64' ? 'arm64' : 'amd64', os: 'linux' }

const sha = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const output = (program: string, ...words: string[]) => {
  const { stdout, stderr, status } = spawnSync(program, words, { maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
  return stdout
}

let layer: Buffer | undefined
const BUSYBOX = spawnSync('which', ['busybox']).stdout.toString().trim()

/** The busybox of this machine and its libraries, under their own paths. */
function busybox(): Buffer {
  if (layer) return layer
  const libraries = [...`${output('ldd', BUSYBOX)}`.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
  layer = output('tar', '-c', '-h', '-f', '-', '-C', '/', ...[BUSYBOX, ...libraries].map((path) => path.slice(1)))
  return layer
}

export interface Image {
  /** Distinguishes this image from others. */
  version: string
  /** The shell command that its containers run; without one, they run until they are stopped. */
  command?: string
  labels?: Record<string, string>
  /** Whether the name is that of a list of images for several platforms, as most names of public registries are. */
  isList?: boolean
}

/** The answer of a registry instead of an image. */
export type Trouble = 'away' | 'hanging' | 'limited' | 'broken' | 'empty'

export async function imageRegistry({ password }: { password?: string } = {}) {
  const port = await freePort()
  const blobs = new Map<string, Buffer>()
  const manifests = new Map<string, Buffer>()
  const requests: string[] = []
  let trouble: Trouble | undefined
  const login = `Basic ${Buffer.from(`panel:${password}`).toString('base64')}`

  const refuse = (response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }))

  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push(`${method} ${url}`)
    if (trouble === 'hanging') return
    if (trouble === 'away') return void request.socket.destroy()
    if (trouble === 'limited') return void refuse(response, 429, 'TOOMANYREQUESTS')
    if (trouble === 'broken') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\r\n')
    if (password !== undefined && headers.authorization !== login)
      return void refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="here"' })
    if (url === '/v2/') return void response.writeHead(200).end('{}')
    const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? []
    const found =
      trouble === 'empty' ? undefined : kind === 'blobs' ? blobs.get(reference) : manifests.get(`${name}:${reference}`)
    if (!found) return void refuse(response, 404, kind === 'blobs' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN')
    response.writeHead(200, {
      'content-type': kind === 'blobs' ? 'application/octet-stream' : `${JSON.parse(`${found}`).mediaType}`,
      'content-length': found.length,
      'docker-content-digest': sha(found),
    })
    response.end(method === 'HEAD' ? undefined : found)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const put = (bytes: Buffer) => {
    blobs.set(sha(bytes), bytes)
    return { size: bytes.length, digest: sha(bytes) }
  }
  return {
    /** The name of an image here, for the files of a stack. */
    name: (name: string) => `127.0.0.1:${port}/${name}`,
    host: `127.0.0.1:${port}`,
    /** Each request so far, without the address. */
    requests,
    /** Refuses what follows in this way; undefined ends it. */
    refuse: (kind: Trouble | undefined) => {
      trouble = kind
      if (kind === 'away') server.closeAllConnections()
    },
    /** Gives a name with its tag an image, whose former one stays there under its digest. */
    publish(name: string, { version, command, labels = {}, isList = false }: Image): { digest: string; id: string } {
      const [repository = '', tag = 'latest'] = name.split(':')
      const tar = busybox()
      const config = put(
        Buffer.from(
          JSON.stringify({
            ...PLATFORM,
            config: {
              Env: ['PATH=/bin:/usr/bin', `VERSION=${version}`],
              Cmd: [BUSYBOX, ...(command === undefined ? ['sleep', '100000'] : ['sh', '-c', command])],
              Labels: labels,
            },
            rootfs: { type: 'layers', diff_ids: [sha(tar)] },
          }),
        ),
      )
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: MANIFEST,
          config: { mediaType: CONFIG, ...config },
          layers: [{ mediaType: LAYER, ...put(tar) }],
        }),
      )
      const own = { mediaType: MANIFEST, digest: sha(manifest), size: manifest.length, platform: PLATFORM }
      const other = { ...own, digest: sha(Buffer.from(version)), platform: { architecture: 's390x', os: 'linux' } }
      const list = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: LIST, manifests: [other, own] }))
      const named = isList ? list : manifest
      for (const each of [manifest, named]) manifests.set(`${repository}:${sha(each)}`, each)
      manifests.set(`${repository}:${tag}`, named)
      return { digest: sha(named), id: config.digest }
    },
  }
}
