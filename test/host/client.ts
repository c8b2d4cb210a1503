import * as z from 'zod'
import { type Account, PASSWORDS } from './rig.ts'
import type { Address } from './service.ts'

export interface Answer {
  status: number
  body: unknown
  headers: Headers
  /** Duration of the request in ms. */
  ms: number
}

/** A signed-in user. */
export interface Caller {
  service: Address
  token: string
  /** The refresh token, as a browser sends it. */
  cookie: string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

export interface Package {
  name: string
  version: string
  old_version: string
}

const SignedIn = z.object({ access_token: z.string() })
const Packages = z.array(z.object({ name: z.string(), version: z.string(), old_version: z.string() }))
const History = z
  .array(
    z.object({
      job_id: z.string(),
      target: z.string(),
      status: z.string(),
      output: z.string(),
      finished_at: z.string().optional(),
    }),
  )
  .nullable()

let addresses = 0
const answers: string[] = []

/** Returns every answer of the services so far, with the headers. */
export function everyAnswer(): string {
  return answers.join('\n\n')
}

/** Returns an address that no request has come from: logins are limited by address. */
export function freshAddress(): string {
  addresses += 1
  return `127.${addresses >> 14}.${(addresses >> 7) & 127}.${(addresses & 127) + 1}`
}

/** Tries to sign in. */
export function login(
  service: Address,
  username: string,
  password: string,
  address: string = freshAddress(),
): Promise<Answer> {
  return send(service, 'POST', '/api/auth/login', { 'x-forwarded-for': address }, { username, password })
}

/** Signs in as one of the rig's accounts. */
export async function signIn(service: Address, account: Account): Promise<Caller> {
  return signedIn(service, await login(service, account, PASSWORDS[account]))
}

/** Makes a caller of the answer to a login; throws when the login was refused. */
export function signedIn(service: Address, { status, body, headers }: Answer): Caller {
  if (status !== 200) throw new Error(`login refused: ${status} ${JSON.stringify(body)}`)
  const token = SignedIn.parse(body).access_token
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return caller(service, token, cookie)
}

/** Makes a caller of a token and a cookie, which may come from another service with the same data. */
export function caller(service: Address, token: string, cookie: string): Caller {
  const credentials = { authorization: `Bearer ${token}`, cookie }
  return {
    service,
    token,
    cookie,
    get: (path) => send(service, 'GET', path, credentials),
    post: (path, body) => send(service, 'POST', path, credentials, body),
    put: (path, body) => send(service, 'PUT', path, credentials, body),
    // Some of these requests take the caller's own password, and passwords are limited by address.
    patch: (path, body) => send(service, 'PATCH', path, { ...credentials, 'x-forwarded-for': freshAddress() }, body),
    delete: (path) => send(service, 'DELETE', path, credentials),
  }
}

/** Sends a request without credentials, from a new address. */
export function ask(service: Address, method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
  return send(service, method, path, { 'x-forwarded-for': freshAddress() }, body)
}

/** Asks for a new access token with the refresh token alone. */
export function refresh(service: Address, cookie: string): Promise<Answer> {
  return send(service, 'POST', '/api/auth/refresh', { cookie })
}

/** Asks for the packages of a target. */
export function askPackages(caller: Caller, target: string): Promise<Answer> {
  return caller.get(`/api/updates/packages?${new URLSearchParams({ target })}`)
}

/** Returns the upgradable packages of a target, sorted by name. */
export async function packages(caller: Caller, target: string): Promise<Package[]> {
  const { status, body } = await askPackages(caller, target)
  if (status !== 200) throw new Error(`packages of ${target}: ${status} ${JSON.stringify(body)}`)
  return Packages.parse(body).sort((a, b) => a.name.localeCompare(b.name))
}

/** Returns the record of a job in the history. */
export async function record(caller: Caller, jobId: string) {
  const { body } = await caller.get('/api/updates/history')
  const found = History.parse(body)?.find(({ job_id }) => job_id === jobId)
  if (!found) throw new Error(`${jobId} is not in the history`)
  return found
}

async function send(
  { url }: Address,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const started = performance.now()
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(90_000),
  })
  const { status, headers: answered } = response
  const text = await response.text()
  answers.push(`${status} ${JSON.stringify([...answered])}\n${text}`)
  return { status, body: JSON.parse(text), headers: answered, ms: performance.now() - started }
}
