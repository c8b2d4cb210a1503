import { ApiError } from './api-error.ts'
import type { Session } from './session.ts'
import { OPEN, type OpenedSocket, type SocketConstructor } from './socket.ts'

interface Means {
  url: string
  session: Pick<Session, 'token' | 'watch'>
  WebSocket: SocketConstructor | undefined
}

/** Opens a socket of the service that receives each new token until it closes. The socket closes when the session ends. */
export async function openSocket(path: string, { url, session, WebSocket }: Means): Promise<OpenedSocket> {
  const fail = (status: number, code: string, message: string) => new ApiError(path, { status, code, message })
  if (!WebSocket) throw fail(501, 'sockets_missing', 'Les WebSockets ne sont pas disponibles ici.')
  const token = await session.token()
  if (!token) throw fail(401, 'unauthenticated', 'Vous devez être connecté.')
  const socket = new WebSocket(url.replace(/^http/, 'ws') + path, ['panel.v1', `bearer.${token}`])
  let newest: string | undefined = token
  const present = () => socket.send(JSON.stringify({ type: 'auth', token: newest }))
  const forget = session.watch((next) => {
    newest = next
    if (!next) socket.close()
    else if (socket.readyState === OPEN) present()
  })
  socket.addEventListener('open', () => {
    if (newest && newest !== token) present()
  })
  socket.addEventListener('close', forget)
  return socket
}
