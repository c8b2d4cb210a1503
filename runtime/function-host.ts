import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { answer } from './answer.ts'
import type { Bindings } from './app.ts'
import type { Clock } from './clock.ts'
import { ConfigError, unknownVariables } from './config.ts'
import { errorBody, Failure } from './errors.ts'
import { speakFrench } from './french.ts'
import { type FunctionInstance, startFunctionInstance } from './function-instance.ts'
import { createLog } from './log.ts'
import type { Manifest } from './manifest.ts'
import { type RemoteConfig, readRemoteConfig } from './remote-config.ts'
import { logRefusal, translate } from './translate.ts'

/** The service where a host of functions runs it, only while there is something to answer. */
export interface FunctionHost {
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** What a server does by itself, once: to be called each minute. Rejects when the service cannot start. */
  scheduled(): Promise<void>
  /** Lets go of everything, for tests: a host of functions ends instances without a word. */
  stop(): Promise<void>
}

/** What a host says of how a request has come, and how its answer leaves. */
export interface Connection {
  /** Who has sent it: without this 127.0.0.1, encrypted if the request's address says so. */
  peer?: Bindings['peer']
  /** Longer answers are not passed on, counted as text in JSON. */
  mostBytes?: number
}

/** A minute's work is done in a second; what takes longer goes on with the next call. */
const SCHEDULED_MS = 25_000

/** Nothing is opened before the first request asks for it; what could not be opened is tried again by a later one. */
export function createFunctionHost(
  manifest: Manifest,
  environment: Record<string, string | undefined>,
  clock: Clock,
): FunctionHost {
  speakFrench()
  const write = (line: string) => void process.stdout.write(line)
  const config = configOf(environment)
  const level = config instanceof ConfigError ? 'info' : config.logLevel
  const sink = createLog({ level, pretty: false, write })
  const { log } = sink
  const socketPaths = new RegExpRouter<true>()
  for (const { path } of manifest.sockets) socketPaths.add('GET', path, true)

  const start = async (): Promise<FunctionInstance> => {
    if (config instanceof ConfigError) throw config
    // What is for the console alone: the lines of the other one can be read in the panel.
    const announce = createLog({ level: level === 'silent' ? level : 'warn', pretty: false, write }).log
    for (const name of unknownVariables(environment)) log.warn({ name }, 'unknown variable, ignored')
    return startFunctionInstance(config, { ...sink, announce }, manifest, clock)
  }
  let starting: Promise<FunctionInstance> | undefined
  const instance = (): Promise<FunctionInstance> => {
    starting ??= start().catch((error: unknown) => {
      starting = undefined
      throw error
    })
    return starting
  }

  const refuse = (request: Request, error: unknown): Response => {
    const failure = error instanceof ConfigError ? new Failure('not_configured', { cause: error }) : translate(error)
    const id = randomUUID()
    const { pathname } = new URL(request.url)
    logRefusal(log, { id, method: request.method, path: pathname, status: failure.status }, failure)
    return answer(errorBody(failure), failure.status, id, [])
  }

  const wantsSocket = ({ method, url, headers }: Request) =>
    headers.get('upgrade')?.toLowerCase() === 'websocket' ||
    (method === 'GET' && socketPaths.match('GET', new URL(url).pathname)[0].length > 0)

  return {
    async fetch(request, { peer = unseen(request), mostBytes } = {}) {
      if (wantsSocket(request)) return refuse(request, new Failure('sockets_missing'))
      try {
        const { during } = await instance()
        return await during(async (app) => {
          const response = await app.fetch(request, { peer })
          return mostBytes === undefined ? response : await whole(response, mostBytes)
        })
      } catch (error) {
        return refuse(request, error)
      }
    },
    async scheduled() {
      const work = instance().then(({ housekeeping }) => housekeeping())
      await Promise.race([work, pause(SCHEDULED_MS, undefined, { ref: false })])
    },
    async stop() {
      await starting?.then(({ stop }) => stop())
    },
  }
}

/** Told with each request, rather than once by a process that does not start. */
function configOf(environment: Record<string, string | undefined>): RemoteConfig | ConfigError {
  try {
    return readRemoteConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

function unseen({ url }: Request): NonNullable<Bindings['peer']> {
  return { address: '127.0.0.1', encrypted: url.startsWith('https:') }
}

/** The answer in one piece; throws a Failure when it is too long, which the host would tell of in words of its own. */
async function whole(response: Response, mostBytes: number): Promise<Response> {
  const body = Buffer.from(await response.arrayBuffer())
  // What is compressed goes as base64.
  const text = response.headers.has('content-encoding') ? body.toString('base64') : body.toString()
  if (Buffer.byteLength(JSON.stringify(text)) > mostBytes)
    throw new Failure('answer_too_large', { values: { limit: `${mostBytes / 1_000_000} Mo` } })
  return new Response(body.length > 0 ? body : null, response)
}
