import { inject, onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { saveUser } from '../../db/users.ts'
import type { DemoHost } from '../../demo/host.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets, loadSecretKey } from '../../platform/secrets.ts'
import { startServer } from '../../serve/server.ts'
import { createSessions } from '../../sessions/sessions.ts'
import { temporaryFolder } from '../db/folder.ts'
import { turnChecksOff, turnProtectionOff } from '../checks-off.ts'
import { checkClose, checkFrame } from '../declared-frames.ts'
import { bearerOf } from '../bearer.ts'

/** The whole service on a free port, in a new folder, for an imitated host. It checks nothing by itself. */
export async function startService(demo: DemoHost, env: Record<string, string> = {}) {
  const folder = env.PANEL_DATA_DIR ?? (await temporaryFolder())
  const { url, stop } = await startServer({
    PANEL_PORT: '0',
    PANEL_DATA_DIR: folder,
    PANEL_LOG_LEVEL: 'silent',
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
    ...env,
  })
  onTestFinished(() => stop())
  const database = env.PANEL_DATABASE_URL ?? `file:${folder}/panel.db`
  await turnChecksOff(database, env.PANEL_DATABASE_TOKEN)
  await turnProtectionOff(database, env.PANEL_DATABASE_TOKEN)
  const { token, userId } = await issue(folder, 900)

  const request = (method: string, path: string, body?: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
  return {
    url,
    stop,
    folder,
    token,
    userId,
    request,
    /** Starts an upgrade and returns the job's id. */
    async run(target: string): Promise<string> {
      const answer = await request('POST', '/api/updates/run', { target })
      return z.object({ job_id: z.string() }).parse(await answer.json()).job_id
    },
    /** Returns the job from the history. */
    async job(id: string) {
      const answer = await request('GET', '/api/updates/history')
      return Jobs.parse(await answer.json()).find(({ job_id }) => job_id === id)
    },
  }
}

const Jobs = z.array(z.looseObject({ job_id: z.string(), status: z.string(), output: z.string() }))

/**
 * Returns a token of the service in that folder, for a new user or administrator, that expires in this many seconds.
 */
export async function issue(
  folder: string,
  seconds: number,
  { isAdmin = false } = {},
): Promise<{ token: string; userId: number }> {
  const username = isAdmin ? 'alice' : 'bob'
  const db = await openDatabase(`file:${folder}/panel.db`)
  const { log } = createLog({ level: 'silent', write: () => {} })
  const secrets = createSecrets(await loadSecretKey(folder))
  const clock = () => new Date(Date.now() + (seconds - 900) * 1000)
  const sessions = await createSessions({ db, secrets, clock, log, jwtKey: undefined, refreshDays: 7 })
  const { id } = await saveUser(db, username, isAdmin, clock().toISOString())
  const token = await sessions.accessToken(bearerOf({ id, username, isAdmin, sid: '1' }, clock()))
  await db.close()
  return { token, userId: id }
}

const Event = z.object({
  type: z.string(),
  topic: z.string(),
  seq: z.number(),
  data: z.record(z.string(), z.unknown()),
})
type Event = z.infer<typeof Event>

interface Options {
  token?: string
  /** The transport of the token; a browser can only set subprotocols. */
  by?: 'protocol' | 'header'
  protocols?: string[]
  headers?: Record<string, string>
  /** The options of the connection: certificate and local address. */
  connection?: ClientOptions
}

/** A WebSocket client that records what it receives. */
export function openSocket(
  url: string,
  path: string,
  { token, by = 'protocol', protocols, headers = {}, connection = {} }: Options = {},
) {
  const offered = protocols ?? ['panel.v1', ...(token !== undefined && by === 'protocol' ? [`bearer.${token}`] : [])]
  const ws = new WebSocket(url.replace('http', 'ws') + path, offered, {
    headers: { ...headers, ...(token !== undefined && by === 'header' && { authorization: `Bearer ${token}` }) },
    perMessageDeflate: false,
    ...connection,
  })
  onTestFinished(() => ws.terminate())
  const events: Event[] = []
  const output: Buffer[] = []
  ws.on('message', (data: Buffer, binary: boolean) => {
    if (binary) throw new Error('a binary frame')
    checkFrame(path, data.toString())
    const event = Event.parse(JSON.parse(data.toString()))
    events.push(event)
    if (event.type === 'update_output') output.push(Buffer.from(z.string().parse(event.data.chunk)))
  })
  let close: { code: number; reason: string } | undefined
  let refused: { status: number; body: string; headers: Record<string, unknown> } | undefined
  ws.on('close', (code, reason) => {
    checkClose(path, code)
    close = { code, reason: reason.toString() }
  })
  ws.on('error', () => {})
  ws.on('unexpected-response', (_, response) => {
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      body += chunk
    })
    response.on('end', () => {
      refused = { status: response.statusCode ?? 0, body, headers: response.headers }
      ws.terminate()
    })
  })
  const opened = new Promise<void>((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('close', () => reject(new Error('closed before it was open')))
  })
  opened.catch(() => {})
  return {
    ws,
    events,
    opened,
    /** The concatenated chunks. */
    text: () => Buffer.concat(output).toString(),
    last: () => events.at(-1),
    closed: () => close,
    refused: () => refused,
    /** Resolves to the code when the socket has closed. */
    end: new Promise<number>((resolve) => ws.once('close', resolve)),
  }
}
