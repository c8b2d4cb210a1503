import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { closeServer } from './close-server.ts'
import { closedAtEnd } from './closed-at-end.ts'
import { createSnapshots, type TestSnapshots } from './hypervisor-snapshots.ts'
import { selfSigned } from './spec/certificate.ts'

export interface TestContainer {
  vmid: number | string
  name: string
  status: 'running' | 'stopped'
  lock?: string
  template?: number
  [figure: string]: number | string | undefined
}

export interface TestNode {
  node: string
  ssl_fingerprint?: string
}

/** Answers in place of the hypervisor when it returns true. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => boolean

/** An answer without an end. */
export const endless: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(256 * 1024, ' ')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
  return true
}

interface Task {
  lines: string[]
  /** Undefined while it runs. */
  exitstatus: string | undefined
}

export interface TestHypervisor {
  url: string
  token: string
  /** Its certificate in PEM, for `localhost`, and the SHA-256 of it. */
  certificate: string
  fingerprint: string
  /** Method and path of each received request, in order. */
  requests: string[]
  /** The tokens that it received. */
  authorizations: string[]
  /** The number of TLS or TCP connections that it accepted. */
  connections(): number
  open(): number
  nodes: TestNode[]
  containers: Map<string, TestContainer[]>
  /** The rights of the token, by path. */
  permissions: Record<string, Record<string, number>>
  tasks: Map<string, Task>
  snapshots: TestSnapshots
  /** The output of the next task, and its end. */
  nextTask: Task
  behave: Behaviour | undefined
  close(): Promise<void>
}

export const HYPERVISOR_TOKEN = 'panel@pve!ops=0b1cb1c6-5d3c-4a4a-9a32-3a3c9a6f7c11'
const ALL = { 'VM.Audit': 1, 'VM.PowerMgmt': 1, 'VM.Snapshot': 1, 'Datastore.Audit': 1 }

/**
 * An API of Proxmox VE with one node on a free port of the loopback, which answers as its API viewer documents it, with
 * a self-signed certificate.
 */
export async function startHypervisor({
  token = HYPERVISOR_TOKEN,
  secure = true,
}: {
  token?: string
  secure?: boolean
} = {}): Promise<TestHypervisor> {
  const certificate = selfSigned('localhost')
  let connections = 0
  const answering = (request: IncomingMessage, response: ServerResponse) => answer(request, response)
  const server = secure ? createServer(certificate, answering) : createHttpServer(answering)
  const sockets = new Set<object>()
  server.on('connection', (socket) => {
    connections += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fingerprint = new X509Certificate(certificate.cert).fingerprint256
  const { snapshots, ...ofSnapshots } = createSnapshots({
    rights: (path) => rightsOn(path),
    send,
    refuse,
    begin(type, vmid, work) {
      const upid = upidOf(type, vmid)
      const task: Task = { lines: [], exitstatus: undefined }
      hypervisor.tasks.set(upid, task)
      void work.then((ended) => Object.assign(task, ended))
      return upid
    },
    container: (vmid) => hypervisor.containers.get('pve')?.find((one) => String(one.vmid) === vmid),
  })
  const hypervisor: TestHypervisor = {
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${Object(server.address()).port}`,
    token,
    certificate: certificate.cert,
    fingerprint,
    requests: [],
    authorizations: [],
    connections: () => connections,
    open: () => sockets.size,
    nodes: [{ node: 'pve', ssl_fingerprint: fingerprint }],
    containers: new Map([['pve', someContainers()]]),
    permissions: { '/': { ...ALL } },
    tasks: new Map(),
    snapshots,
    nextTask: { lines: ['no problem'], exitstatus: 'OK' },
    behave: undefined,
    close: () => closeServer(server),
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    hypervisor.requests.push(`${method} ${url}`)
    const { authorization } = request.headers
    if (authorization !== undefined) hypervisor.authorizations.push(authorization)
    if (hypervisor.behave?.(request, response)) return
    // The real one takes three seconds.
    if (authorization !== `PVEAPIToken=${token}`) return refuse(response, 401, 'invalid token value!')
    const { pathname, searchParams } = new URL(url, hypervisor.url)
    const parts = pathname.split('/').slice(1).map(decodeURIComponent)
    if (parts[0] !== 'api2' || parts[1] !== 'json') return refuse(response, 404, 'Not Found')
    const [area, node = '', kind, name = '', ...rest] = parts.slice(2)
    if (method === 'GET' && area === 'nodes' && node === '') return send(response, described(hypervisor.nodes))
    if (method === 'GET' && area === 'access' && node === 'permissions') return send(response, hypervisor.permissions)
    const containers = hypervisor.containers.get(node)
    if (area !== 'nodes' || !containers) return refuse(response, 595, `no such node '${node}'`)
    if (kind === 'lxc' && name === '') return send(response, containers.filter(isSeen))
    if (kind === 'lxc' && (await ofSnapshots.answer(request, response, [name, ...rest]))) return
    if (kind === 'storage' && rest[0] === 'status') return ofSnapshots.storage(response, name)
    if (kind === 'tasks' && name === '') return list(response, searchParams)
    if (kind === 'lxc' && method === 'POST') return act(response, node, containers, name, rest[1] ?? '')
    if (kind === 'tasks') return task(response, name, rest[0], searchParams)
    // The hypervisor's message for an unknown path.
    refuse(response, 501, `Method '${method} ${pathname}' not implemented`)
  }

  const rightsOn = (path: string) => ({
    ...hypervisor.permissions['/'],
    ...hypervisor.permissions[path.slice(0, path.lastIndexOf('/'))],
    ...hypervisor.permissions[path],
  })
  const isSeen = ({ vmid }: TestContainer) => 'VM.Audit' in rightsOn(`/vms/${vmid}`)
  const upidOf = (type: string, vmid: string) => {
    const process = (0x3e2f1 + hypervisor.tasks.size).toString(16).padStart(8, '0').toUpperCase()
    const time = Math.floor(Date.now() / 1_000)
      .toString(16)
      .toUpperCase()
    return `UPID:pve:${process}:01C3A5B7:${time}:${type}:${vmid}:panel@pve!ops:`
  }

  const act = (response: ServerResponse, node: string, all: TestContainer[], vmid: string, action: string) => {
    const found = all.find((one) => String(one.vmid) === vmid)
    if (!('VM.PowerMgmt' in rightsOn(`/vms/${vmid}`)))
      return refuse(response, 403, `Permission check failed (/vms/${vmid}, VM.PowerMgmt)`)
    if (!found) return refuse(response, 500, `Configuration file 'nodes/${node}/lxc/${vmid}.conf' does not exist`)
    if (action === 'start' && found.status === 'running') return refuse(response, 500, `CT ${vmid} already running`)
    if (action !== 'start' && found.status !== 'running') return refuse(response, 500, `CT ${vmid} not running`)
    if (hypervisor.nextTask.exitstatus === 'OK')
      found.status = action === 'start' || action === 'reboot' ? 'running' : 'stopped'
    const time = `6745A0${String(hypervisor.tasks.size).padStart(2, '0')}`
    const upid = `UPID:${node}:0003E2F1:01C3A5B7:${time}:vz${action}:${vmid}:panel@pve!ops:`
    hypervisor.tasks.set(upid, hypervisor.nextTask)
    send(response, upid)
  }

  const task = (response: ServerResponse, upid: string, what = '', query: URLSearchParams) => {
    const found = hypervisor.tasks.get(upid)
    if (!found) return refuse(response, 400, 'Parameter verification failed.', { upid: 'no such task' })
    const { lines, exitstatus } = found
    if (what === 'status') {
      const ended = exitstatus === undefined ? { status: 'running' } : { status: 'stopped', exitstatus }
      return send(response, { upid, node: 'pve', pid: 254705, type: 'vzstart', ...ended })
    }
    const start = Number(query.get('start') ?? 0)
    const limit = Number(query.get('limit') ?? 50)
    const page = lines.slice(start, start + limit).map((t, at) => ({ n: start + at + 1, t }))
    const given = lines.length === 0 ? [{ n: 1, t: 'no content' }] : page
    send(response, given, { total: lines.length })
  }

  /** The tasks of the token, the newest first. */
  const list = (response: ServerResponse, query: URLSearchParams) => {
    const listed = [...hypervisor.tasks].reverse().flatMap(([upid, { exitstatus }]) => {
      const [, node, , , time = '', type, id, user] = upid.split(':')
      const starttime = Number.parseInt(time, 16)
      const isAsked =
        id === query.get('vmid') &&
        type === query.get('typefilter') &&
        starttime >= Number(query.get('since')) &&
        (exitstatus !== undefined || query.get('source') === 'all')
      return isAsked ? [{ upid, node, type, id, user, starttime, status: exitstatus ?? 'RUNNING' }] : []
    })
    send(response, listed.slice(0, Number(query.get('limit') ?? 50)))
  }

  return hypervisor
}

/** Starts a hypervisor for the running test. */
export function testHypervisor(options?: Parameters<typeof startHypervisor>[0]): Promise<TestHypervisor> {
  return closedAtEnd(startHypervisor(options))
}

function someContainers(): TestContainer[] {
  const figures = { cpus: 2, maxmem: 536870912, maxdisk: 8589934592, type: 'lxc' }
  return [
    // As text and unordered, as the real one sometimes answers.
    { vmid: '102', name: 'db', status: 'stopped', cpu: 0, mem: 0, disk: 0, uptime: 0, ...figures },
    {
      vmid: 101,
      name: 'web',
      status: 'running',
      cpu: 0.0125,
      mem: 74940416,
      disk: 838225920,
      uptime: 81418,
      tags: 'db;prod',
      ...figures,
    },
    {
      vmid: 103,
      name: 'backed-up',
      status: 'running',
      lock: 'backup',
      cpu: '5.1e-05',
      mem: '1',
      disk: 2,
      uptime: '3',
      ...figures,
    },
    { vmid: 900, name: 'template', status: 'stopped', template: 1, ...figures },
  ]
}

function described(nodes: TestNode[]) {
  return nodes.map((node) => ({ id: `node/${node.node}`, type: 'node', status: 'online', level: '', ...node }))
}

function send(response: ServerResponse, data: unknown, more: object = {}): void {
  response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(JSON.stringify({ data, ...more }))
}

function refuse(response: ServerResponse, status: number, reason: string, errors?: Record<string, string>): void {
  response.writeHead(status, reason, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(JSON.stringify({ data: null, ...(errors && { errors }) }))
}
