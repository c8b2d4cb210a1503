import { randomBytes } from 'node:crypto'
import type { LoginThrottle } from '../login-throttle.ts'
import type { Prompt } from './prompts.ts'

/** A sign-in whose host waits for a person's answers, on an open connection that has not signed in. */
export interface WaitingLogin {
  /** The client's address; one address holds few of them. */
  from: string
  /** The rank of the address: a lower one displaces a higher one. */
  rank: number
  prompts: readonly Prompt[]
  /** When the person must have answered, in milliseconds of the monotonic clock. */
  until: number
  /** Ends the connection. */
  end(): void
}

/** The sign-ins that wait for answers. All of them end in time, and with their number sshd stays within its own limits. */
export interface WaitingLogins<login extends WaitingLogin> {
  /** Keeps a sign-in and returns its id. Without room for it, ends it and returns undefined. */
  add(login: login): string | undefined
  /** Returns a sign-in; undefined for an id that is unknown, answered or expired. */
  find(id: string): login | undefined
  /** Removes a sign-in and returns it. */
  take(id: string): login | undefined
}

/** Each is a connection that counts towards sshd's MaxStartups. */
const MOST = 20
const MOST_PER_ADDRESS = 3
/** The time in which connections that sshd penalizes end one after the other. Its own limit follows 5 s later. */
const SLACK_MS = 15_000
const A_LOOK_MS = 1_000

export function createWaitingLogins<login extends WaitingLogin>(
  throttle: LoginThrottle,
  now: () => number = () => performance.now(),
): WaitingLogins<login> {
  const waiting = new Map<string, { login: login; timer: NodeJS.Timeout }>()
  const ending = new Set<login>()

  /** Ends the connection when sshd's penalty for it does no harm, and at the end of the slack at the latest. */
  const endInTurn = (login: login) => {
    ending.add(login)
    const look = () => {
      const left = login.until + SLACK_MS - now()
      const ms = Math.min(throttle.delay(-1), left)
      if (ms > 0) return void setTimeout(look, Math.min(ms, A_LOOK_MS)).unref()
      ending.delete(login)
      login.end()
      throttle.abandoned()
    }
    look()
  }
  const take = (id: string): login | undefined => {
    const found = waiting.get(id)
    if (!found) return undefined
    clearTimeout(found.timer)
    waiting.delete(id)
    return found.login
  }
  const expire = (id: string) => {
    const login = take(id)
    if (login) endInTurn(login)
  }
  /** Makes room by ending the oldest sign-in of the worst rank, if that is worse than this one's. */
  const displace = (rank: number): boolean => {
    let worst: [id: string, rank: number] | undefined
    for (const [id, { login }] of waiting) if (!worst || login.rank > worst[1]) worst = [id, login.rank]
    if (!worst || worst[1] <= rank) return false
    expire(worst[0])
    return true
  }

  return {
    add(login) {
      const open = [...[...waiting.values()].map((each) => each.login), ...ending]
      const most = Math.min(MOST, throttle.mostAbandoned(SLACK_MS / 1000))
      const isOwnFull = open.filter(({ from }) => from === login.from).length >= MOST_PER_ADDRESS
      const isFull = open.length >= most
      const ms = login.until - now()
      if (ms <= 0 || isOwnFull || (isFull && !displace(login.rank))) {
        login.end()
        return undefined
      }
      const id = randomBytes(16).toString('base64url')
      const timer = setTimeout(() => expire(id), ms).unref()
      waiting.set(id, { login, timer })
      return id
    },
    find: (id) => waiting.get(id)?.login,
    take,
  }
}
