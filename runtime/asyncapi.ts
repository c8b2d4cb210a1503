import { channel, nameOf, operations } from './asyncapi-channel.ts'
import { createSchemas } from './asyncapi-schemas.ts'
import { PROTOCOL } from './handshake.ts'
import type { AnySocket } from './socket.ts'

const DESCRIPTION = `What the panel's service sends and takes over WebSockets.

A browser sends its access token as a subprotocol, \`new WebSocket(url, ['${PROTOCOL}', 'bearer.' + token])\`, and the service selects
\`${PROTOCOL}\`; other clients may send it as \`Authorization: Bearer …\`. Never in the address. A foreign \`Origin\` and a passed limit are
refused by HTTP, in the form of every error of \`/api/openapi.json\`; everything else is accepted and then closed with a code, which
\`x-close-codes\` of each channel explains. The service pings every 25 s, and takes 64 KiB a frame. Behind
a function host there are no sockets: they are refused with 501 \`sockets_missing\`, and the output of a job is read by polling.`

const TOKEN = `An access token: as the subprotocol \`bearer.<token>\` beside \`${PROTOCOL}\`, or in \`Authorization\`.`

const HOST = {
  host: '{host}',
  variables: { host: { default: '127.0.0.1:8080', description: 'Where the service listens, or its proxy.' } },
}

export type AsyncApi = ReturnType<typeof createAsyncApi>

/** The AsyncAPI document of some sockets. */
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
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: TOKEN },
      },
    },
  }
}
