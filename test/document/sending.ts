import { type Answer, exchange, type WireRequest } from '../property/client.ts'
import { type Ask, type Caller, withGiven } from './asks.ts'
import { bodyOf, type Operation } from './openapi.ts'
import type { Pool } from './pool.ts'

/** Values that no document can contain. */
export interface Given {
  /** Access tokens. */
  tokens: Readonly<Record<'user' | 'admin', readonly string[]>>
  /** Values of the cookies that are credentials. Each is used once if there are enough. */
  cookies: Readonly<Record<string, readonly string[]>>
  /** Secrets and addresses for bodies, by the name of the property. */
  values: Readonly<Record<string, unknown>>
  /** Whole bodies that contain such values, by the name of the operation. */
  bodies?: Readonly<Record<string, readonly unknown[]>>
  /** Headers that give a request a client address, to apply or avoid rate limits. */
  address?: (n: number) => readonly (readonly [name: string, value: string])[]
}

/** No answer of this API takes longer. */
const WITHIN_MS = 10_000

export interface Sent {
  wire: WireRequest
  answer: Answer
}

/** Sends requests to a service, after filling in credentials and values of the pool. */
export function createSending(
  service: { url: string; agent: Parameters<typeof exchange>[1] },
  given: Given,
  pool: Pool,
) {
  let turn = 0
  const nextOf = <value>(list: readonly value[]) => list[turn % list.length]

  const tokenOf = (caller: Caller) => {
    if (caller === 'nobody') return undefined
    return caller === 'rubbish' ? 'eyJhbGciOiJSUzI1NiJ9.e30.AAAA' : nextOf(given.tokens[caller])
  }
  const target = (operation: Operation, { path, query }: Ask) => {
    const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => word(pool.settled(path[name])))
    const pairs = Object.entries(query).map(([name, value]) => `${word(name)}=${word(pool.settled(value))}`)
    return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
  }
  const textOf = (operation: Operation, ask: Ask) => {
    if (!ask.body) return ''
    if ('text' in ask.body) return ask.body.text
    const whole = ask.given ? nextOf(given.bodies?.[operation.name] ?? []) : undefined
    if (whole !== undefined) return JSON.stringify(whole)
    const json = pool.settled(ask.body.json)
    const schema = bodyOf(operation)?.schema
    return JSON.stringify(ask.given && schema ? withGiven(json, schema, given.values) : json) ?? ''
  }
  const headersOf = (ask: Ask, address: number) => {
    const token = tokenOf(ask.caller)
    const secrets = ask.cookies.map((name) => `${name}=${nextOf(given.cookies[name] ?? []) ?? ''}`)
    const cookies = secrets.join('; ')
    return [
      ['Host', new URL(service.url).host] as const,
      ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
      ...(cookies === '' ? [] : [['Cookie', cookies] as const]),
      ...(ask.body ? [['Content-Type', 'application/json'] as const] : []),
      ...ask.headers,
      ...(given.address?.(address) ?? []),
    ]
  }

  /** Each request has its own client address unless one is given. */
  return async (operation: Operation, ask: Ask, address?: number): Promise<Sent> => {
    turn += 1
    const wire: WireRequest = {
      method: operation.method,
      target: target(operation, ask),
      headers: headersOf(ask, address ?? turn),
      body: textOf(operation, ask),
      framing: ask.body ? 'length' : 'none',
    }
    const outcome = await exchange(service.url, service.agent, wire, WITHIN_MS)
    if (outcome.kind !== 'answer') throw new Error(`${operation.name} was not answered: ${outcome.kind}`)
    return { wire, answer: outcome.answer }
  }
}

function word(value: unknown): string {
  return encodeURIComponent(written(value))
}

/** The text of a value in an address; JSON for objects, because some, such as `{ toString: '' }`, have no text. */
export function written(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
