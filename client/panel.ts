import { ApiError } from './api-error.ts'
import { type FollowOptions, follow as followTopic } from './follow.ts'
import { openSocket } from './open-socket.ts'
import type { Answer, Api, Arguments, Operation } from './operation.ts'
import { createRequest, type Fetch, type Sent } from './request.ts'
import { createSession, type Given, type Session, tokenSession } from './session.ts'
import type { OpenedSocket, SocketConstructor } from './socket.ts'
import { type DeploymentEvent, type Event, sourceOf, type UpdateEvent } from './topics.ts'

export interface PanelOptions {
  /** The address of the service: `https://panel.example`. */
  url: string
  /** Replaces the global `fetch`. */
  fetch?: Fetch
  /** Replaces the global `WebSocket`; `false` makes the client poll instead. */
  WebSocket?: SocketConstructor | false
  /** Called when the session ended without `signOut`, so that the user has to sign in again. */
  onSignedOut?(): void
  /** Called when the session has a new token: the user's rights may have changed. */
  onRenewed?(): void
}

/** Options of a client with an API token instead of a user who signs in. */
export interface TokenOptions extends Omit<PanelOptions, 'onRenewed'> {
  /** `opt_…`, as `POST /api/auth/tokens` returns it. `onSignedOut` is called once the service has refused it. */
  token: string
}

/** A client without a session of its own. */
export type TokenPanel = Pick<Panel, 'api' | 'follow' | 'open'>

export interface Panel {
  /** Calls an operation. Rejects with an `ApiError`, or with the signal's reason. */
  api: Api
  signIn(username: string, password: string): Promise<Answer<'POST /api/auth/login'>>
  /** Signs out. This client is signed out afterwards, even when the request fails. */
  signOut(): Promise<void>
  /** Resumes the session of the cookie when a page starts; false when there is none. */
  resume(): Promise<boolean>
  /**
   * Gets a new token before the current one expires, so that the service reads the user's rights from the host again. False when the
   * session has ended.
   */
  renew(): Promise<boolean>
  /** Yields the events of a job (`update:<id>`) up to the last one, each exactly once, across reconnects. */
  follow(topic: `update:${string}`, options?: FollowOptions): AsyncGenerator<UpdateEvent, void, undefined>
  /** Yields the state of a deployment (`deploy:<id>`) each time it changes, until it ends. */
  follow(topic: `deploy:${string}`, options?: FollowOptions): AsyncGenerator<DeploymentEvent, void, undefined>
  /**
   * Opens a socket that is not a topic, such as `/ws/terminal?target=host`. It stays open when its token expires and closes when the
   * session ends.
   */
  open(path: `/ws/${string}`): Promise<OpenedSocket>
}

/** Whether it is the answer to a completed sign-in, in whichever step, or to a new proof: with it the session goes on. */
function grants(answer: unknown): answer is Given {
  const given: object = Object(answer)
  return 'access_token' in given && 'expires_in' in given
}

const LOGOUT = 'POST /api/auth/logout'

/** A scheme, a host and an optional path; a query or a fragment would end up before the path of an operation. */
const ADDRESS = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/

/**
 * Creates a client of the service; throws a TypeError when `url` is invalid. The client alone holds the access token, and renews it as long
 * as the session lasts. With an API token it needs no sign-in; once the service has refused that token, every call fails.
 */
export function createPanel(options: TokenOptions): TokenPanel
export function createPanel(options: PanelOptions): Panel
export function createPanel({
  url,
  token: apiToken,
  fetch = (...asked) => globalThis.fetch(...asked),
  WebSocket = globalThis.WebSocket,
  onSignedOut = () => {},
  onRenewed = () => {},
}: PanelOptions & { token?: string }): Panel {
  if (!ADDRESS.test(url) || !URL.canParse(url))
    throw new TypeError(`L’adresse du service s’écrit comme « https://panel.example », et non « ${url} ».`)
  const base = url.replace(/\/+$/, '')
  const request = createRequest(base, fetch)
  const own = apiToken ? tokenSession(apiToken, onSignedOut) : createSession(request, onSignedOut, onRenewed)
  /** Settles when the sign-out that is under way has ended. */
  let leaving: Promise<unknown> | undefined
  /** Calls and sockets that the service refuses because of a sign-out ask for no other token. */
  const session: Session = {
    ...own,
    async renew(after) {
      await leaving
      return own.renew(after)
    },
  }

  function api<operation extends Operation>(
    operation: operation,
    ...input: Arguments<operation>
  ): Promise<Answer<operation>>
  async function api(operation: Operation, sent: Sent = {}): Promise<unknown> {
    const token = await session.token()
    try {
      const answer = await request(operation, sent, token)
      // A module may answer with tokens of its own.
      if (grants(answer) && !/modules/.test(operation)) session.begin(answer, token)
      return answer
    } catch (error) {
      if (!token || !(error instanceof ApiError) || error.code !== 'unauthenticated') throw error
      const renewed = await (operation === LOGOUT ? own : session).renew(token)
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
    signIn: (username, password) => api('POST /api/auth/login', { body: { username, password } }),
    async signOut() {
      const asked = api(LOGOUT)
      leaving = asked.then(
        () => session.end(),
        () => session.end(),
      )
      await leaving
      leaving = undefined
      await asked
    },
    resume: async () => (await session.renew()) !== undefined,
    renew: async () => (await session.renew(await session.token())) !== undefined,
    follow,
    open: (path) => openSocket(path, { url: base, session, WebSocket: WebSocket || undefined }),
  }
}
