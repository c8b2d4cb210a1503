import { ApiError } from './api-error.ts'
import { type FollowOptions, follow as followTopic } from './follow.ts'
import { openSocket } from './open-socket.ts'
import type { Answer, Api, Arguments, Operation } from './operation.ts'
import { createRequest, type Fetch, type Sent } from './request.ts'
import { createSession } from './session.ts'
import type { OpenedSocket, SocketConstructor } from './socket.ts'
import { type DeploymentEvent, type Event, sourceOf, type UpdateEvent } from './topics.ts'

export interface PanelOptions {
  /** Where the service is: `https://panel.example`. */
  url: string
  /** In the place of the global one. */
  fetch?: Fetch
  /** In the place of the global one; `false` does without, and asks again and again instead. */
  WebSocket?: SocketConstructor | false
  /** The session is over, and not because of `signOut`: somebody has to sign in again. */
  onSignedOut?(): void
  /** There is another token in the session: who is signed in may have other rights now. */
  onRenewed?(): void
}

export interface Panel {
  /** Asks for an operation. Rejects with an `ApiError`, or with the signal's reason. */
  api: Api
  signIn(username: string, password: string): Promise<Answer<'POST /api/auth/login'>>
  /** Whatever comes of it, this client is signed out then. */
  signOut(): Promise<void>
  /** Takes the session of the cookie up again, at the start of a page; false when there is none. */
  resume(): Promise<boolean>
  /** Takes a new token before the one at hand ends: the service asks the host again what its holder may do. False when nobody is signed in any more. */
  renew(): Promise<boolean>
  /** The events of a job (`update:<id>`) to its last one, each once, whatever becomes of the connections in between. */
  follow(topic: `update:${string}`, options?: FollowOptions): AsyncGenerator<UpdateEvent, void, undefined>
  /** How far a deployment has come (`deploy:<id>`), each time that it goes on, to its end. */
  follow(topic: `deploy:${string}`, options?: FollowOptions): AsyncGenerator<DeploymentEvent, void, undefined>
  /** Opens a socket that is no topic, such as `/ws/terminal?target=host`. It outlives the token that opened it, not the session. */
  open(path: `/ws/${string}`): Promise<OpenedSocket>
}

/** A scheme, a host, perhaps a path: nothing that would stand between these and the path of an operation. */
const ADDRESS = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/

/** A client of the service; a TypeError when its address is none. Its access token lives in here alone, and is renewed as long as the session lasts. */
export function createPanel({
  url,
  fetch = (...asked) => globalThis.fetch(...asked),
  WebSocket = globalThis.WebSocket,
  onSignedOut = () => {},
  onRenewed = () => {},
}: PanelOptions): Panel {
  if (!ADDRESS.test(url) || !URL.canParse(url))
    throw new TypeError(`L’adresse du service s’écrit comme « https://panel.example », et non « ${url} ».`)
  const base = url.replace(/\/+$/, '')
  const request = createRequest(base, fetch)
  const session = createSession(request, onSignedOut, onRenewed)

  function api<operation extends Operation>(
    operation: operation,
    ...input: Arguments<operation>
  ): Promise<Answer<operation>>
  async function api(operation: Operation, sent: Sent = {}): Promise<unknown> {
    const token = await session.token()
    try {
      return await request(operation, sent, token)
    } catch (error) {
      if (!token || !(error instanceof ApiError) || error.code !== 'unauthenticated') throw error
      const renewed = await session.renew(token)
      if (!renewed) throw error
      return request(operation, sent, renewed)
    }
  }

  function follow(topic: `update:${string}`, options?: FollowOptions): AsyncGenerator<UpdateEvent, void, undefined>
  function follow(topic: `deploy:${string}`, options?: FollowOptions): AsyncGenerator<DeploymentEvent, void, undefined>
  function follow(topic: string, options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
    return followTopic(topic, sourceOf(topic, api), { url: base, session, WebSocket: WebSocket || undefined }, options)
  }

  return {
    api,
    async signIn(username, password) {
      const answer = await api('POST /api/auth/login', { body: { username, password } })
      session.begin(answer)
      return answer
    },
    async signOut() {
      try {
        await api('POST /api/auth/logout')
      } finally {
        session.end()
      }
    },
    resume: async () => (await session.renew()) !== undefined,
    renew: async () => (await session.renew(await session.token())) !== undefined,
    follow,
    open: (path) => openSocket(path, { url: base, session, WebSocket: WebSocket || undefined }),
  }
}
