import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { startAfresh } from './services.ts'
import type { Place } from './place.ts'

/** The limits of a container and its approximate use of them. */
interface Size {
  cpus: number
  memory: number
  disk: number
  /** Shares from 0 to 1. */
  cpu: number
  mem: number
  used: number
}

export interface DemoHypervisor {
  url: string
  token: string
  close(): void
}

interface Task {
  endsAt: number
  lines: string[]
}

const GIB = 2 ** 30
const SIZES: readonly Size[] = [
  { cpus: 4, memory: 4 * GIB, disk: 32 * GIB, cpu: 0.18, mem: 0.46, used: 0.38 },
  { cpus: 4, memory: 8 * GIB, disk: 64 * GIB, cpu: 0.34, mem: 0.71, used: 0.55 },
  { cpus: 2, memory: GIB, disk: 128 * GIB, cpu: 0.02, mem: 0.2, used: 0.64 },
  { cpus: 1, memory: GIB / 2, disk: 8 * GIB, cpu: 0.03, mem: 0.31, used: 0.21 },
  { cpus: 2, memory: 2 * GIB, disk: 48 * GIB, cpu: 0.09, mem: 0.63, used: 0.93 },
  { cpus: 2, memory: 2 * GIB, disk: 24 * GIB, cpu: 0.12, mem: 0.52, used: 0.47 },
]
/** The time that a container takes to start or stop. */
const TURN_MS = 2_500
const BOOTED_AT = Date.now() - 14 * 3_600_000
const ACTIONS = new Set(['start', 'stop', 'shutdown', 'reboot'])

/**
 * Imitates the part of Proxmox VE's API that the service uses, on a free port of the loopback interface: changing
 * figures of containers, and tasks. Source: the API viewer of Proxmox VE 8.
 */
export async function startDemoHypervisor(containers: readonly Place[]): Promise<DemoHypervisor> {
  const token = `panel@pve!demo=${randomUUID()}`
  const tasks = new Map<string, Task>()
  const startedAt = new Map<string, number>()

  const answer = ({ method, url = '', headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.authorization !== `PVEAPIToken=${token}`) return refuse(response, 401, 'invalid token value!')
    const path = new URL(url, 'http://localhost').pathname
    const [area, node, kind, name = '', , action = ''] = path
      .replace('/api2/json/', '')
      .split('/')
      .map(decodeURIComponent)
    if (area === 'nodes' && !node)
      return send(response, [{ node: 'pve', id: 'node/pve', type: 'node', status: 'online' }])
    if (area === 'access') return send(response, { '/': { 'VM.Audit': 1, 'VM.PowerMgmt': 1 } })
    if (kind === 'lxc' && !name) return send(response, containers.map(figures))
    if (kind === 'lxc' && method === 'POST') return act(response, name, action)
    if (kind === 'tasks') return tell(response, name, path.endsWith('/status'))
    refuse(response, 501, `Method '${method} ${path}' not implemented`)
  }

  const figures = ({ id, name, running, lockedFor, template, tags }: Place, n: number) => {
    const { cpus, memory, disk, cpu, mem, used } = SIZES[n % SIZES.length] ?? Object(SIZES[0])
    const at = Date.now() / 1000
    // The sum of two waves with different periods looks like real load.
    const wave = 0.5 + 0.3 * Math.sin(at / (7 + n)) + 0.2 * Math.sin(at / (2.3 + n / 3))
    const uptime = Math.floor((Date.now() - (startedAt.get(id) ?? BOOTED_AT + n * 60_000)) / 1000)
    return {
      vmid: Number(id),
      name,
      status: running ? 'running' : 'stopped',
      type: 'lxc',
      ...(lockedFor !== undefined && { lock: lockedFor }),
      ...(template && { template: 1 }),
      ...(tags !== undefined && { tags }),
      cpus,
      maxmem: memory,
      maxdisk: disk,
      cpu: running ? Math.min(1, cpu * 2 * wave) : 0,
      mem: running ? Math.round(memory * (mem + 0.04 * wave)) : 0,
      disk: Math.round(disk * used),
      uptime: running ? uptime : 0,
    }
  }

  const act = (response: ServerResponse, id: string, action: string) => {
    const place = containers.find((each) => each.id === id)
    if (!place || !ACTIONS.has(action))
      return refuse(response, 500, `Configuration file 'nodes/pve/lxc/${id}.conf' does not exist`)
    if (place.lockedFor !== undefined) return refuse(response, 500, `CT is locked (${place.lockedFor})`)
    if ((action === 'start') === place.running)
      return refuse(response, 500, `CT ${id} ${place.running ? 'already' : 'not'} running`)
    const upid = `UPID:pve:0003E2F1:01C3A5B7:6745A0${String(tasks.size).padStart(2, '0')}:vz${action}:${id}:panel@pve!demo:`
    tasks.set(upid, { endsAt: Date.now() + TURN_MS, lines: [`${action} CT ${id}: ${place.name}`] })
    const runs = action === 'start' || action === 'reboot'
    setTimeout(() => {
      place.running = runs
      if (!runs) return
      startedAt.set(id, Date.now())
      startAfresh(place)
    }, TURN_MS).unref()
    send(response, upid)
  }

  const tell = (response: ServerResponse, upid: string, isStatus: boolean) => {
    const task = tasks.get(upid)
    if (!task) return refuse(response, 400, 'Parameter verification failed.')
    const ended = Date.now() > task.endsAt
    if (isStatus)
      return send(response, {
        upid,
        node: 'pve',
        status: ended ? 'stopped' : 'running',
        ...(ended && { exitstatus: 'OK' }),
      })
    const lines = [...task.lines, ...(ended ? ['TASK OK'] : [])]
    send(
      response,
      lines.map((t, n) => ({ n: n + 1, t })),
      { total: lines.length },
    )
  }

  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the demo hypervisor has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    token,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function send(response: ServerResponse, data: unknown, more: object = {}): void {
  response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(JSON.stringify({ data, ...more }))
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, reason, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(JSON.stringify({ data: null }))
}
