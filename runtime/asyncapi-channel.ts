import * as z from 'zod'
import type { Schemas } from './asyncapi-schemas.ts'
import { PROTOCOL } from './handshake.ts'
import type { AnySocket } from './socket.ts'
import { closesOf, type FrameKinds, framesTaken } from './socket-frames.ts'

const BINDING = { method: 'GET', bindingVersion: '0.1.0' } as const
const TOKEN = { $ref: '#/components/securitySchemes/accessToken' }

/** `/ws/updates/:jobId` is `updatesByJobId`. */
export function nameOf({ path }: AnySocket): string {
  const words = path
    .slice('/ws/'.length)
    .replace(/:(\w)/g, (_, first: string) => `by/${first.toUpperCase()}`)
    .split('/')
  return words.map((word, at) => (at === 0 ? word : capitalized(word))).join('')
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** One socket: its address, its frames both ways, how it is opened and why it is closed. */
export function channel(socket: AnySocket, schemas: Schemas) {
  const { path, summary, description, auth, rateLimit, request, sends } = socket
  const { params, query } = request ?? {}
  return {
    address: path.replace(/:(\w+)/g, '{$1}'),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(params && { parameters: parametersOf(params) }),
    messages: { ...messages(sends, 'output', schemas), ...messages(framesTaken(socket), 'input', schemas) },
    bindings: { ws: { ...BINDING, ...(query && { query: schemas.of(query, 'input') }) } },
    'x-auth': auth,
    'x-subprotocol': PROTOCOL,
    ...(rateLimit && { 'x-rate-limit': { limit: rateLimit.limit, seconds: rateLimit.seconds, by: rateLimit.by } }),
    'x-close-codes': closesOf(socket),
  }
}

/** What the service does with a socket, by name: it sends, and where a client has something to say, it receives. */
export function operations(socket: AnySocket): [name: string, operation: object][] {
  const { summary = socket.path, auth, sends } = socket
  const name = nameOf(socket)
  const operation = (action: 'send' | 'receive', frames: FrameKinds): [string, object][] => {
    const about = {
      action,
      summary: action === 'send' ? summary : `${summary}: what a client says`,
      channel: { $ref: `#/channels/${name}` },
      messages: Object.keys(frames).map((frame) => ({ $ref: `#/channels/${name}/messages/${frame}` })),
      // Where `x-auth` is `optional` it goes without one too, for which the document has no word.
      ...(auth !== 'none' && { security: [TOKEN] }),
    }
    return Object.keys(frames).length > 0 ? [[`${action}${capitalized(name)}`, about]] : []
  }
  return [...operation('send', sends), ...operation('receive', framesTaken(socket))]
}

function messages(frames: FrameKinds, io: 'output' | 'input', schemas: Schemas) {
  return Object.fromEntries(
    Object.entries(frames).map(([name, { description, schema, example }]) => [
      name,
      {
        name,
        summary: description,
        contentType: schema ? 'application/json' : 'application/octet-stream',
        payload: schema ? schemas.of(schema, io) : { type: 'string', format: 'binary' },
        ...(example !== undefined && { examples: [{ payload: example }] }),
      },
    ]),
  )
}

/** Here a parameter is always a text, which has no schema of its own. */
function parametersOf({ shape }: z.ZodObject) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => {
      const { description, examples } = Described.parse(z.globalRegistry.get(schema) ?? {})
      return [name, { description, examples }]
    }),
  )
}

const Described = z.object({ description: z.string().optional(), examples: z.array(z.coerce.string()).optional() })
