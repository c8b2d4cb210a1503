import * as z from 'zod'
import { type Ledger, signInsOf } from './ledger.ts'
import type { Random } from './random.ts'
import type { Line, World } from './traffic.ts'

/** Signs a client in and out, within the limit of five attempts a minute. */
export interface ClientSession {
  token(): string | undefined
  cookie(): string | undefined
  /** The time of the next permitted attempt, as in `Date.now`. */
  notBefore(): number
  signIn(): Promise<void>
  refresh(): Promise<void>
  signOut(): Promise<void>
  /** Expects that the tokens of an ended session do not work. */
  tryEnded(): Promise<void>
}

const TRIES = 5
const WINDOW_MS = 60_000
/** An attempt counts when the service reads it, which may be this much later than it was sent. */
const LATE_MS = 20_000
/** The wait after a refusal without Retry-After. */
const RETRY_MS = 2_000

const SignedIn = z.object({
  access_token: z.string(),
  expires_in: z.literal(900),
  user: z.object({ username: z.string() }),
})
const Refreshed = z.object({ access_token: z.string() })
const ENDED = ['unauthenticated', 'session_ended', 'refresh_invalid']

interface Account {
  username: string
  password: string
}

export function createClientSession(
  { world, ledger, line, random }: { world: World; ledger: Ledger; line: Line; random: Random },
  { username, password }: Account,
): ClientSession {
  const { findings, weather } = world
  let current: { token: string; cookie: string } | undefined
  let ended: { token: string; cookie: string } | undefined
  let tries: number[] = []
  let notBefore = 0

  const login = async (given: string) => {
    const now = Date.now()
    const limited = tries.filter((at) => at > now - WINDOW_MS - LATE_MS).length >= TRIES
    tries = [...tries, now].slice(-2 * TRIES)
    const counted = signInsOf(ledger, username)
    if (given === password) counted.unanswered += 1
    const answer = await line.ask({
      method: 'POST',
      path: '/api/auth/login',
      body: { username, password: given },
      mayRefuse: [
        'login_busy',
        ...(given === password ? [] : ['bad_credentials']),
        ...(limited ? ['login_rate_limited'] : []),
      ],
    })
    if (given === password && answer && answer.status !== 500) counted.unanswered -= 1
    if (answer?.status === 429 && answer.retryAfter === undefined)
      findings.add('undeclared', 'a 429 of login without Retry-After')
    notBefore = now + (answer?.retryAfter ?? 0) * 1000 + random.between(RETRY_MS / 2, RETRY_MS)
    return { answer, counted }
  }

  return {
    token: () => current?.token,
    cookie: () => current?.cookie,
    notBefore() {
      const recent = tries.filter((at) => at > Date.now() - WINDOW_MS)
      // Most clients keep to the limit; some exceed it.
      if (recent.length < TRIES || random.chance(0.02)) return notBefore
      return Math.max(notBefore, (recent[0] ?? 0) + WINDOW_MS + 1_000)
    },
    async signIn() {
      if (random.chance(0.1)) {
        const { answer } = await login(`${password}!`)
        if (answer?.status === 200) findings.add('unexpected', `${username} was let in with a wrong password`)
        return
      }
      const { answer, counted } = await login(password)
      if (answer?.status !== 200) return
      counted.acknowledged += 1
      const body = SignedIn.parse(answer.body)
      current = { token: body.access_token, cookie: answer.cookie ?? '' }
    },
    async refresh() {
      const cookie = current?.cookie
      const question = { method: 'POST', path: '/api/auth/refresh', cookie, mayRefuse: ENDED } as const
      const answer = await line.ask(question)
      if (answer?.status === 401) findings.add('forgotten', `a session of ${username}: ${answer.code}`)
      if (answer?.status !== 200) return
      const { access_token } = Refreshed.parse(answer.body)
      current = { token: access_token, cookie: cookie ?? '' }
    },
    async signOut() {
      const from = Date.now()
      const answer = await line.ask({ method: 'POST', path: '/api/auth/logout', ...current })
      // The service confirms a logout even if it could not store it.
      const written = answer?.status === 200 && !weather.met(['lock'], from, Date.now())
      ended = written ? current : undefined
      current = undefined
    },
    async tryEnded() {
      if (!ended) return
      const { token, cookie } = ended
      const me = await line.ask({ method: 'GET', path: '/api/auth/me', token, mayRefuse: ENDED })
      const again = await line.ask({ method: 'POST', path: '/api/auth/refresh', cookie, mayRefuse: ENDED })
      for (const answer of [me, again])
        if (answer?.status === 200) findings.add('forgotten', `the end of a session of ${username}`)
    },
  }
}
