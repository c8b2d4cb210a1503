import { readdir, readFile, readlink } from 'node:fs/promises'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { ask, type Panel } from './panel.ts'

/** The resources of the service at one moment. */
export interface Census {
  /** Connections of clients to its own port. */
  clientSockets: number
  /** Its connections to the host. */
  hostSockets: number
  /** Open files except the database: sockets, pipes and devices do not count. */
  files: number
  /** Open descriptors of the database. */
  database: number
  timers: number
  /** In MiB: the memory of JavaScript after a garbage collection; undefined when none can be requested. */
  heap: number | undefined
  /** In MiB: the whole process, with shared memory divided. */
  pss: number
}

const DATABASE = /\/panel\.db(?:-wal|-shm)?$/
const MIB = 1024 * 1024

export async function takeCensus(panel: Panel, hostPort: number): Promise<Census> {
  const pid = panel.pid()
  const heap = panel.inspector() === undefined ? undefined : await collectedHeap(panel.inspector() ?? '')
  const sockets = await connections(pid)
  const links = await descriptors(pid)
  const { text: metrics } = await ask(`${panel.url}/metrics`)
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return {
    clientSockets: sockets.filter(({ local }) => local === panel.port).length,
    hostSockets: sockets.filter(({ remote }) => remote === hostPort).length,
    files: links.filter((link) => /^\/(?!dev\/)/.test(link) && !DATABASE.test(link)).length,
    database: links.filter((link) => DATABASE.test(link)).length,
    timers: Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN),
    heap: heap === undefined ? undefined : heap / MIB,
    pss: (Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024) / MIB,
  }
}

/** Returns the targets of the open file descriptors of a process. */
async function descriptors(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return links.filter((link) => link !== '')
}

const LISTEN = '0A'

/**
 * Returns the TCP connections of a process, also those in CLOSE_WAIT, but not its listeners. The columns are those of
 * /proc/PID/net/tcp in proc(5).
 */
async function connections(pid: number): Promise<{ local: number; remote: number }[]> {
  const inodes = new Set((await descriptors(pid)).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')),
  )
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/)
      return inodes.has(inode) && state !== LISTEN ? [{ local: port(local), remote: port(remote) }] : []
    }),
  )
}

function port(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
}

const Reply = z.object({ id: z.number(), result: z.looseObject({ usedSize: z.number().optional() }) })

/** Collects all garbage by the inspector, and returns the remaining bytes. */
async function collectedHeap(inspector: string): Promise<number> {
  const socket = new WebSocket(inspector)
  try {
    return await new Promise((resolve, reject) => {
      const methods = ['HeapProfiler.collectGarbage', 'HeapProfiler.collectGarbage', 'Runtime.getHeapUsage']
      const send = (id: number) => socket.send(JSON.stringify({ id, method: methods[id] }))
      socket.on('open', () => send(0))
      socket.on('error', reject)
      socket.on('message', (data) => {
        const { id, result } = Reply.parse(JSON.parse(String(data)))
        if (id + 1 < methods.length) send(id + 1)
        else resolve(result.usedSize ?? Number.NaN)
      })
    })
  } finally {
    socket.close()
  }
}
