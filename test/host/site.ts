import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { Server as Listener, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { selfSigned } from '../spec/certificate.ts'
import { rig } from './rig.ts'

/** The server of the community scripts, as a site has it for its containers. */
export const SITE = 'raw.githubusercontent.com'

/** An answer that is made at each request; `time` is 1 for the first one of its path. */
export type Answer = (response: ServerResponse, time: number) => void

/** A server that stands for the internet in the networks of containers. */
export interface Site {
  /** Makes a path give a text, or an answer. */
  put(path: string, given: string | Buffer | Answer): void
  /** The paths of all requests since the last `forget`, in their order. */
  asked(): readonly string[]
  forget(): void
  /** Makes a container find the site. It listens there also after a restart, which takes its name away. */
  join(container: string): Promise<void>
  close(): Promise<void>
}

/** The wait between two looks at whether a container has restarted. */
const LOOK_MS = 200

/** Listens in the network that it is started in, and hands its socket over. */
const LISTEN = `
const server = require('node:net').createServer()
server.listen(443, '127.0.0.1', () => process.send('listening', server, () => { server.close(); process.disconnect() }))`

/** Starts a site. It answers 404 where nothing was put. */
export async function startSite(): Promise<Site> {
  const certificate = selfSigned(SITE)
  const given = new Map<string, string | Buffer | Answer>()
  const times = new Map<string, number>()
  let asked: string[] = []
  const server = createServer(certificate, ({ url = '' }, response) => {
    asked.push(url)
    const time = (times.get(url) ?? 0) + 1
    times.set(url, time)
    const answer = given.get(url)
    if (answer === undefined) response.writeHead(404).end('404: Not Found')
    else if (typeof answer === 'function') answer(response, time)
    else response.end(answer)
  })
  const sockets = new Set<Socket>()
  const take = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    server.emit('connection', socket)
  }
  const ending = new AbortController()
  const followed = new Map<string, { first: Promise<void>; end: Promise<void> }>()
  const follow = async (container: string, begun: () => void) => {
    let listener: Listener | undefined
    let network = ''
    while (!ending.signal.aborted) {
      if (network === '' || !(await exists(network))) {
        listener?.close()
        network = await networkOf(container)
        listener = network === '' ? undefined : await listenIn(network)
        listener?.on('connection', take)
        if (listener) begun()
      }
      await pause(LOOK_MS)
    }
    listener?.close()
  }
  return {
    put(path, what) {
      given.set(path, what)
      times.delete(path)
    },
    asked: () => asked,
    forget() {
      asked = []
    },
    async join(container) {
      await rig('app', container, 'trust', SITE, certificate.cert)
      if (!followed.has(container)) {
        const { first, begun } = beginning()
        followed.set(container, { first, end: follow(container, begun) })
      }
      await followed.get(container)?.first
      // After a restart, it listens in a moment.
      await rig(
        'in',
        container,
        'curl',
        '-sS',
        '-o',
        '/dev/null',
        '--retry',
        '50',
        '--retry-delay',
        '1',
        '--retry-connrefused',
        `https://${SITE}/`,
      )
    },
    async close() {
      ending.abort()
      for (const socket of sockets) socket.destroy()
      await Promise.all([...followed.values()].map(({ end }) => end))
      server.close()
    },
  }
}

function beginning() {
  let begun = () => {}
  const first = new Promise<void>((resolve) => {
    begun = resolve
  })
  return { first, begun }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The path of a container's network; empty while it does not run. */
const networkOf = (container: string) => rig('app', container, 'net').catch(() => '')

async function listenIn(network: string): Promise<Listener | undefined> {
  const child = spawn('nsenter', [`--net=${network}`, process.execPath, '-e', LISTEN], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const [, listener] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  return listener instanceof Listener ? listener : undefined
}
