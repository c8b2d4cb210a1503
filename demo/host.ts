import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { createServer, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { fingerprint } from '../ssh/host-key.ts'
import { type Account, accounts, SERVICE, type User } from './account.ts'
import { serve } from './connection.ts'
import { newHostKey } from './host-key.ts'
import type { LoginMethod } from './login.ts'
import { newContainers, newHost, type Place } from './place.ts'
import type { Machine } from './process.ts'
import { createPrograms } from './programs.ts'

export interface DemoHostOptions {
  /** 0, the default, takes a free port. */
  port?: number
  /** The time between two lines of an upgrade's output, in milliseconds. */
  lineMs?: number
  /** The time that each `pct exec` takes before its command starts, in milliseconds: none by default. */
  delayMs?: number
  /** The time that a reboot takes, in milliseconds. */
  rebootMs?: number
  /** The delay after a wrong password, in milliseconds. */
  wrongMs?: number
  /** The host name. */
  name?: string
  /** Fields that replace those of the host. */
  host?: Partial<Place>
  /** Replace the three default containers. */
  containers?: Place[]
  /** Accounts that are added to `demo`, `guest` and the service's `panel`, or replace them. */
  users?: Readonly<Record<string, Account>>
  /** The only login method that the host offers. */
  method?: LoginMethod
  /** An OpenSSH private key; by default a new ed25519 key. */
  privateKey?: string
}

/** A running imitated host. Changes of its properties apply to later events. */
export interface DemoHost extends Pick<Machine, 'lineMs' | 'delayMs' | 'upgradeOutput' | 'override'> {
  readonly port: number
  /** The fingerprint in its pinned form: `ssh-ed25519 SHA256:…`. */
  readonly hostKey: string
  /** The private key, for another host with the same key. */
  readonly privateKey: string
  /** The account for the service's settings. */
  readonly service: { username: string; password: string }
  /** By name; they may change while it runs. */
  readonly users: Map<string, User>
  /** The users of the newest thousand password attempts, right or wrong. */
  readonly signIns: readonly string[]
  /** The newest thousand command lines, split into words. */
  readonly commands: readonly (readonly string[])[]
  /** Open connections. */
  readonly connections: number
  /** The id of its present boot. */
  readonly boot: string
  /** While false, connections are dropped before the handshake. */
  accepting: boolean
  /** The names of upgradable packages on `host` or in a container. */
  upgradable(place: string): string[]
  /** Drops every connection abruptly; jobs keep running. */
  cut(): void
  /**
   * Drops every connection, and the jobs end without an exit code. The host is back at once with another boot and its
   * containers, and nothing in it asks for a restart any more.
   */
  reboot(): void
  /** Ends everything; settles when the port is free. */
  close(): Promise<void>
}

const REMEMBERED = 1000
/** An upgrade of five packages has some forty lines: eight seconds. */
const LINE_MS = 200
const WRONG_MS = 300
const REBOOT_MS = 5_000
/** systemd ends programs a moment after it has answered. */
const GOING_MS = 300

/**
 * Starts an SSH server on 127.0.0.1 that imitates a virtualization host with three containers. It interprets the few
 * commands that the service sends and runs nothing on this machine. Rejects when the port is taken.
 */
export async function startDemoHost(options: DemoHostOptions = {}): Promise<DemoHost> {
  const privateKey = options.privateKey ?? newHostKey()
  const key = ssh2.utils.parseKey(privateKey)
  if (key instanceof Error) throw key

  const users = accounts(options.users ?? {})
  const machine: Machine = {
    name: options.name ?? 'pve',
    boot: randomUUID(),
    reboot: () => later(() => restart(options.rebootMs ?? REBOOT_MS), GOING_MS),
    users,
    host: { ...newHost(), ...options.host },
    containers: options.containers ?? newContainers(),
    jobs: new Map(),
    lineMs: options.lineMs ?? LINE_MS,
    delayMs: options.delayMs ?? 0,
    upgradeOutput: undefined,
    override: undefined,
  }
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const commands: (readonly string[])[] = []
  const signIns: string[] = []
  const remember = <item>(list: item[], item: item) => {
    list.push(item)
    if (list.length > REMEMBERED) list.shift()
  }
  const service = {
    machine,
    run: createPrograms(),
    method: options.method ?? 'password',
    wrongMs: options.wrongMs ?? WRONG_MS,
    stopping: stopping.signal,
    onPassword: (username: string) => remember(signIns, username),
    onCommand: (words: readonly string[]) => remember(commands, words),
  }
  const ssh = new ssh2.Server({ hostKeys: [privateKey], ident: 'OpenSSH_9.2p1 demo' }, (connection) =>
    serve(connection, service),
  )

  const sockets = new Set<Socket>()
  let accepting = true
  let isDown = false
  // ssh2 leaves Nagle's algorithm on: each answer would wait for the client's acknowledgement of the one before.
  const server = createServer({ noDelay: true }, (socket) => {
    if (!accepting || isDown) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    ssh.injectSocket(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the demo host has no port')

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const loseJobs = () => {
    for (const job of machine.jobs.values()) job.lose('rebooted')
  }
  const later = (work: () => void, ms: number) => {
    const timer = setTimeout(work, ms)
    stopping.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
  const restart = (ms: number) => {
    const ran = machine.containers.filter(({ running }) => running)
    isDown = true
    cut()
    loseJobs()
    for (const container of ran) container.running = false
    const begin = () => {
      isDown = false
      machine.boot = randomUUID()
      machine.bootedAt = Date.now()
      delete machine.host.reboot
      for (const container of ran) container.running = container.onboot !== false
      for (const place of [machine.host, ...ran]) delete place.services
    }
    if (ms === 0) begin()
    else later(begin, ms)
  }
  return {
    port: address.port,
    hostKey: fingerprint(key.getPublicSSH()),
    privateKey,
    service: { username: SERVICE, password: users.get(SERVICE)?.password ?? '' },
    users,
    signIns,
    commands,
    get connections() {
      return sockets.size
    },
    get boot() {
      return machine.boot
    },
    get accepting() {
      return accepting
    },
    set accepting(value) {
      accepting = value
    },
    get lineMs() {
      return machine.lineMs
    },
    set lineMs(value) {
      machine.lineMs = value
    },
    get delayMs() {
      return machine.delayMs
    },
    set delayMs(value) {
      machine.delayMs = value
    },
    get upgradeOutput() {
      return machine.upgradeOutput
    },
    set upgradeOutput(value) {
      machine.upgradeOutput = value
    },
    get override() {
      return machine.override
    },
    set override(value) {
      machine.override = value
    },
    upgradable(place) {
      const found = [machine.host, ...machine.containers].find(({ id }) => id === place)
      return found?.upgradable.map(({ name }) => name) ?? []
    },
    cut,
    reboot: () => restart(0),
    async close() {
      stopping.abort()
      loseJobs()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      await closed
    },
  }
}
