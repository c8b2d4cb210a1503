/*
 * The AsyncAPI document, made from the declarations of the sockets. It describes the frames and close codes for
 * clients, and for the tests that compare it with the service.
 */

import * as z from 'zod'
import { codesOf } from '../runtime/function.ts'
import { PROTOCOL } from '../runtime/handshake.ts'
import { type AnySocket, CLOSE, type Closes, type FrameKind } from '../runtime/socket.ts'
import { renewalFrame } from '../runtime/token-renewal.ts'
import { createSchemas, type Schemas } from './schema.ts'

const DESCRIPTION = `The frames that the panel's service sends and accepts over WebSockets.

A browser sends its access token as a subprotocol, \`new WebSocket(url, ['${PROTOCOL}', 'bearer.' + token])\`, and the service selects
\`${PROTOCOL}\`; other clients may send it as \`Authorization: Bearer …\`. It is never part of the address. A foreign \`Origin\` and an
exceeded limit are refused over HTTP, in the format of every error of \`/api/openapi.json\`. Everything else is accepted and then closed
with a code, which \`x-close-codes\` of each channel explains. The service pings every 25 s, and accepts frames of at most 64 KiB. Behind
a function host there are no sockets: they are refused with 501 \`sockets_missing\`, and clients poll the output of a job.`

const TOKEN_TEXT = `An access token or an API token, which needs no renewal: as the subprotocol \`bearer.<token>\` beside \`${PROTOCOL}\`, or in \`Authorization\`.`

const HOST = {
  host: '{host}',
  variables: { host: { default: '127.0.0.1:8080', description: 'Where the service listens, or its proxy.' } },
}

export type AsyncApi = ReturnType<typeof createAsyncApi>

/** Creates the AsyncAPI document of the sockets. */
export function createAsyncApi(sockets: readonly AnySocket[], version: string) {
  const schemas = createSchemas()
  const channels = sockets.map((socket) => [nameOf(socket), channel(socket, schemas)])
  return {
    asyncapi: '3.0.0',
    info: { title: 'ops-panel', version, description: DESCRIPTION },
    defaultContentType: 'application/json',
    servers: {
      encrypted: { ...HOST, protocol: 'wss', description: 'With TLS.' },
      plain: { ...HOST, protocol: 'ws', description: 'Without.' },
    },
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(sockets.flatMap(operations)),
    components: {
      schemas: schemas.components(),
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: TOKEN_TEXT },
      },
    },
  }
}

const BINDING = { method: 'GET', bindingVersion: '0.1.0' } as const
const TOKEN = { $ref: '#/components/securitySchemes/accessToken' }

/** Returns the name of a socket: `/ws/updates/:jobId` becomes `updatesByJobId`. */
export function nameOf({ path }: AnySocket): string {
  const words = path
    .slice('/ws/'.length)
    .replace(/:(\w)/g, (_, first: string) => `by/${first.toUpperCase()}`)
    .split('/')
  return words.map((word, at) => (at === 0 ? word : capitalized(word))).join('')
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Describes one socket: its address, its frames in both directions, how it opens and why it closes. */
export function channel(socket: AnySocket, schemas: Schemas) {
  const { path, summary, description, auth, stepUp, rateLimit, request, sends } = socket
  const { params, query } = request ?? {}
  return {
    address: path.replace(/:(\w+)/g, '{$1}'),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(params && { parameters: parametersOf(params) }),
    messages: { ...messages(sends, 'output', schemas), ...messages(framesTaken(socket), 'input', schemas) },
    bindings: { ws: { ...BINDING, ...(query && { query: schemas.of(query, 'input') }) } },
    'x-auth': auth,
    ...(stepUp && { 'x-step-up': true }),
    'x-subprotocol': PROTOCOL,
    ...(rateLimit && { 'x-rate-limit': { limit: rateLimit.limit, seconds: rateLimit.seconds, by: rateLimit.by } }),
    'x-close-codes': closesOf(socket),
  }
}

/** Returns the operations of a socket by name: `send`, and `receive` where clients send frames. */
export function operations(socket: AnySocket): [name: string, operation: object][] {
  const { summary = socket.path, auth, sends } = socket
  const name = nameOf(socket)
  const operation = (action: 'send' | 'receive', frames: FrameKinds): [string, object][] => {
    const about = {
      action,
      summary: action === 'send' ? summary : `${summary}: frames of the client`,
      channel: { $ref: `#/channels/${name}` },
      messages: Object.keys(frames).map((frame) => ({ $ref: `#/channels/${name}/messages/${frame}` })),
      // Where `x-auth` is `optional`, a client may also connect without a token; AsyncAPI cannot express that.
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

/** Returns the parameters of an address. AsyncAPI parameters are strings and have no schema. */
function parametersOf({ shape }: z.ZodObject) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => {
      const { description, examples } = Described.parse(z.globalRegistry.get(schema) ?? {})
      return [name, { description, examples }]
    }),
  )
}

const Described = z.object({ description: z.string().optional(), examples: z.array(z.coerce.string()).optional() })

export type FrameKinds = Readonly<Record<string, FrameKind>>

/** Returns the frames that a socket accepts: its own, and the token renewal unless the socket needs no token. */
export function framesTaken({ auth, takes = {} }: AnySocket): FrameKinds {
  return auth === 'none' ? takes : { ...takes, auth: renewalFrame }
}

/** The close code that `ws` itself sends (RFC 6455). */
const TOO_LONG = { code: 1009, reason: 'tooLong', description: 'A frame is longer than 64 KiB.' }

/** Returns every code with which the service may close a socket, with its meaning. */
export function closesOf({
  auth,
  request,
  closes,
}: AnySocket): { code: number; reason: string; description: string }[] {
  const all: Closes = {
    ...(auth !== 'none' && {
      unauthenticated: 'The token is missing or has expired, or its session has ended.',
      forbidden:
        'The user may not open this socket, or the new token belongs to another user. A reason, where there is one, says why: `step_up_required`, `target_forbidden` or `enrolment_required`.',
    }),
    ...(codesOf({ auth: 'none', rateLimit: false, ...(request && { request }) }).has('invalid_request') && {
      refused: 'A parameter in the address is invalid (`invalid_request`).',
    }),
    stopping: 'The service is stopping.',
    failed:
      'The database (`storage_failed`) or the service (`internal`) has failed; the log says why. The work itself continues: reconnect after a pause.',
    ...closes,
  }
  return [
    ...Object.entries(CLOSE).flatMap(([reason, code]) => {
      const description = Object.entries(all).find(([name]) => name === reason)?.[1]
      return description === undefined ? [] : [{ code, reason, description }]
    }),
    TOO_LONG,
  ].sort((a, b) => a.code - b.code)
}
