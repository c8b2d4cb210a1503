import { setTimeout } from 'node:timers/promises'
import ssh2, {
  type AuthContext,
  type AuthenticationType,
  type KeyboardAuthContext,
  type PublicKeyAuthContext,
} from 'ssh2'
import type { Question, User } from './account.ts'

/** The login methods of the imitated host; a host offers one of them, and keys where an account has some. */
export type LoginMethod = Extract<AuthenticationType, 'password' | 'keyboard-interactive' | 'publickey'>

interface Rules {
  users: ReadonlyMap<string, User>
  method: LoginMethod
  /** The delay after a wrong password. */
  wrongMs: number
  signal: AbortSignal
  /** Called with the user of every password attempt, right or wrong. */
  onPassword(username: string): void
}

/** sshd's MaxAuthTries. */
const TRIES = 6

/**
 * Answers the attempts of one connection. `enter` is called before the account is let in: when it returns false, the
 * connection has been ended instead.
 */
export function createLogin(
  { users, method, wrongMs, signal, onPassword }: Rules,
  enter: (user: User) => boolean,
  end: () => void,
) {
  let tries = 0
  const methodOf = (username: string) => (users.get(username)?.asks ? 'keyboard-interactive' : method)
  const offered = ({ username }: AuthContext): LoginMethod[] => {
    const keys = [...users.values()].some(({ authorizedKeys }) => authorizedKeys !== undefined)
    const own = methodOf(username)
    return keys && own !== 'publickey' ? ['publickey', own] : [own]
  }

  const tryKey = (context: PublicKeyAuthContext): void => {
    const user = users.get(context.username)
    if (!user || !isAuthorized(user, context)) context.reject(offered(context))
    else if (context.signature === undefined || enter(user)) context.accept()
  }

  /** Asks one round of questions after the other, and returns whether every answer is right. */
  const askMore = async (context: AuthContext, { asks = [] }: User): Promise<boolean> => {
    for (const round of rounds(asks)) {
      if (context.method !== 'keyboard-interactive') return false
      const answers = await asked(context, round)
      if (!round.every(({ answer }, n) => answers[n] === answer)) return false
    }
    return true
  }

  const decide = async (context: AuthContext, password: string | undefined): Promise<void> => {
    onPassword(context.username)
    const user = users.get(context.username)
    if (user && password === user.password && (await askMore(context, user))) {
      if (enter(user)) context.accept()
      return
    }
    tries += 1
    await setTimeout(wrongMs, undefined, { signal })
    if (tries >= TRIES) end()
    else context.reject(offered(context))
  }

  return (context: AuthContext): void => {
    // close() ended the wait: there is no client left to answer.
    const settle = (password: string | undefined) => void decide(context, password).catch(() => {})
    if (context.method === 'publickey') tryKey(context)
    else if (context.method !== methodOf(context.username)) context.reject(offered(context))
    else if (context.method === 'password') settle(context.password)
    else if (context.method === 'keyboard-interactive') {
      void asked(context, [{ prompt: 'Password: ' }]).then(([password]) => settle(password))
    }
  }
}

function asked(
  context: KeyboardAuthContext,
  questions: readonly Pick<Question, 'prompt' | 'echo'>[],
): Promise<readonly string[]> {
  const prompts = questions.map(({ prompt, echo = false }) => ({ prompt, echo }))
  return new Promise((resolve) => context.prompt(prompts, resolve))
}

function rounds(asks: readonly Question[]): Question[][] {
  const all: Question[][] = []
  for (const question of asks) {
    if (question.together) all.at(-1)?.push(question)
    else all.push([question])
  }
  return all
}

/** Whether the account has the key, and made the signature if there is one: a client first asks without. */
function isAuthorized(
  { authorizedKeys = '', keysAreElsewhere = false }: User,
  { key, signature, blob, hashAlgo }: PublicKeyAuthContext,
): boolean {
  const known = ssh2.utils.parseKey(key.data)
  const listed = authorizedKeys.split('\n').some((line) => line.split(' ').includes(key.data.toString('base64')))
  if (!listed || keysAreElsewhere || known instanceof Error) return false
  return signature === undefined || (blob !== undefined && known.verify(blob, signature, hashAlgo))
}
