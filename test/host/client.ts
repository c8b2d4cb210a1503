import * as z from 'zod'
import { type Account, PASSWORDS } from './rig.ts'
import type { Service } from './service.ts'

export interface Answer {
  status: number
  body: unknown
  /** How long it took. */
  ms: number
}

/** Somebody who is signed in. */
export interface Caller {
  service: Service
  token: string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
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

/** Logins are limited by address: each comes from another one. */
let logins = 0

/** Tries to sign in. */
export function login(service: Service, username: string, password: string): Promise<Answer> {
  logins += 1
  const address = `127.0.${Math.floor(logins / 250)}.${(logins % 250) + 1}`
  return send(service, 'POST', '/api/auth/login', { 'x-forwarded-for': address }, { username, password })
}

/** Signs in as one of the rig's accounts. */
export async function signIn(service: Service, account: Account): Promise<Caller> {
  const { status, body } = await login(service, account, PASSWORDS[account])
  if (status !== 200) throw new Error(`${account} was not let in: ${status} ${JSON.stringify(body)}`)
  const token = SignedIn.parse(body).access_token
  const authorization = { authorization: `Bearer ${token}` }
  return {
    service,
    token,
    get: (path) => send(service, 'GET', path, authorization),
    post: (path, body) => send(service, 'POST', path, authorization, body),
  }
}

/** The answer about the packages of a target. */
export function askPackages(caller: Caller, target: string): Promise<Answer> {
  return caller.get(`/api/updates/packages?${new URLSearchParams({ target })}`)
}

/** The packages of a target that can be upgraded, by name. */
export async function packages(caller: Caller, target: string): Promise<Package[]> {
  const { status, body } = await askPackages(caller, target)
  if (status !== 200) throw new Error(`packages of ${target}: ${status} ${JSON.stringify(body)}`)
  return Packages.parse(body).sort((a, b) => a.name.localeCompare(b.name))
}

/** What the history says of a job. */
export async function record(caller: Caller, jobId: string) {
  const { body } = await caller.get('/api/updates/history')
  const found = History.parse(body)?.find(({ job_id }) => job_id === jobId)
  if (!found) throw new Error(`${jobId} is not in the history`)
  return found
}

async function send(
  { url }: Service,
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
  return { status: response.status, body: await response.json(), ms: performance.now() - started }
}
