import fc from 'fast-check'
import { WebSocket } from 'ws'
import type { Caller } from './asks.ts'
import { type AsyncApi, type Channel, componentLike, type Message } from './asyncapi.ts'
import { isRecord } from './json-schema.ts'
import { FromPool, type Pool } from './pool.ts'
import { schemaCheckOf } from './schema-check.ts'
import { type Given, written } from './sending.ts'
import { valid } from './valid-values.ts'
import { json } from './verdict.ts'

/** The request that opens a socket, and the frames to send over it. */
interface Call {
  caller: Caller
  path: Readonly<Record<string, unknown>>
  query: unknown
  frames: readonly Frame[]
}
type Frame = { json: unknown } | { bytes: Uint8Array } | { text: string }

export interface Heard {
  /** How often each message arrived. */
  messages: Map<string, number>
  /** How often each code closed a socket. */
  codes: Map<number, number>
}

export interface SocketRuns {
  runs: number
  seed: number
  /** Whether a counterexample is made smaller. */
  shrink?: boolean
  until?: string | undefined
}

/** A random choice may find an existing object only rarely, so there are several rounds. */
const ROUNDS = 10
/** The time to listen to an open socket that nobody closes. */
const LISTENING_MS = 150
/** The longest time that a socket may take to open. */
const OPENING_MS = 10_000

/** Opens sockets by valid and invalid requests, sends valid and invalid frames, and judges all received ones. */
export function createSocketDriver(url: string, asyncapi: AsyncApi, { given, pool }: { given: Given; pool: Pool }) {
  const check = schemaCheckOf(asyncapi.raw, { closed: true })
  let turn = 0

  /** The name of the message whose schema a frame matches. */
  const named = ({ sends, address }: Channel, data: Buffer, isBinary: boolean): string => {
    const kind = isBinary ? 'application/octet-stream' : 'application/json'
    const candidates = [...sends].filter(([, { contentType }]) => contentType === kind)
    const value = isBinary ? undefined : json(data.toString())
    const wrong: string[] = []
    for (const [name, { payload }] of candidates) {
      const complaints = isBinary ? [] : check.complaints(payload, value)
      if (complaints.length === 0) return name
      wrong.push(`${name}: ${complaints.join('; ')}`)
    }
    throw new Error(
      `${address} declares no such frame (${kind})\n${data.toString().slice(0, 500)}\n${wrong.join('\n')}`,
    )
  }

  const call = async (channel: Channel, { caller, path, query, frames }: Call, heard: Heard): Promise<void> => {
    turn += 1
    const { address, 'x-subprotocol': protocol } = channel
    const filled = address.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(written(pool.settled(path[name]))),
    )
    const pairs = isRecord(query)
      ? Object.entries(query).map(([name, value]) => [name, written(pool.settled(value))])
      : []
    const token = caller === 'nobody' ? [] : [`bearer.${caller === 'rubbish' ? 'a.b.c' : given.tokens[caller][0]}`]
    const ws = new WebSocket(
      `${url.replace('http', 'ws')}${filled}?${new URLSearchParams(pairs)}`,
      [protocol, ...token],
      {
        handshakeTimeout: OPENING_MS,
        headers: Object.fromEntries(given.address?.(turn) ?? []),
      },
    )
    let isCut = false
    await new Promise<void>((resolve, reject) => {
      ws.on('error', reject)
      ws.on('open', () => {
        for (const frame of frames) ws.send(said(frame))
        setTimeout(() => {
          isCut = ws.readyState === WebSocket.OPEN
          ws.terminate()
        }, LISTENING_MS)
      })
      ws.on('message', (data: Buffer, isBinary: boolean) => {
        try {
          count(heard.messages, named(channel, data, isBinary))
        } catch (error) {
          reject(error)
        }
      })
      ws.on('close', (code) => {
        count(heard.codes, code)
        const isDeclared = channel['x-close-codes'].some((each) => each.code === code)
        if (isCut || isDeclared) resolve()
        else reject(new Error(`${address} does not declare that it is closed with ${code}`))
      })
    }).finally(() => ws.terminate())
  }

  return {
    /** Opens sockets in rounds until this message arrives. Rejects with fast-check's report of an undeclared frame. */
    async drive(channel: Channel, { runs, seed, shrink = true, until }: SocketRuns): Promise<Heard> {
      const heard: Heard = { messages: new Map(), codes: new Map() }
      const property = fc.asyncProperty(anyCall(channel, asyncapi), (each) => call(channel, each, heard))
      for (
        let round = 0;
        round === 0 || (round < ROUNDS && until !== undefined && !heard.messages.has(until));
        round += 1
      )
        await fc.assert(property, { numRuns: runs, seed: seed + round, endOnFailure: !shrink })
      return heard
    },
  }
}

function anyCall(channel: Channel, { components }: AsyncApi): fc.Arbitrary<Call> {
  const path = Object.entries(channel.parameters).map(([name, parameter]) => {
    const component = componentLike(parameter, components)
    const rubbish = fc.constantFrom('0', 'x', ...(parameter.examples ?? []))
    const told = fc.tuple(fc.nat(99), rubbish).map(([nth, otherwise]) => new FromPool(component ?? '', nth, otherwise))
    return [name, fc.oneof({ arbitrary: told, weight: 4 }, { arbitrary: rubbish, weight: 1 })] as const
  })
  const query = channel.bindings.ws.query
  const wrongQuery = fc.dictionary(fc.constantFrom(...Object.keys(query?.properties ?? { x: 1 })), fc.string(), {
    maxKeys: 3,
  })
  return fc.record({
    caller: fc.constantFrom<Caller>('admin', 'admin', 'user', 'nobody', 'rubbish'),
    path: fc.record(Object.fromEntries(path)),
    query: query
      ? fc.oneof({ arbitrary: valid(query, components), weight: 4 }, { arbitrary: wrongQuery, weight: 1 })
      : fc.constant({}),
    frames: fc.array(fc.oneof(...[...channel.takes.values()].map((each) => saying(each, components)), RUBBISH), {
      maxLength: 3,
    }),
  })
}

function saying({ contentType, payload }: Message, components: AsyncApi['components']): fc.Arbitrary<Frame> {
  if (contentType !== 'application/json')
    return fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => ({ bytes }))
  return valid(payload, components).map((value) => ({ json: value }))
}

const RUBBISH: fc.Arbitrary<Frame> = fc.constantFrom<Frame>(
  { text: '' },
  { text: '{' },
  { text: '{"type":"nonsense"}' },
  { text: 'x'.repeat(70_000) },
  { bytes: new Uint8Array(70_000) },
)

function said(frame: Frame): string | Uint8Array {
  if ('bytes' in frame) return frame.bytes
  return 'text' in frame ? frame.text : JSON.stringify(frame.json)
}

function count<key>(found: Map<key, number>, at: key): void {
  found.set(at, (found.get(at) ?? 0) + 1)
}
