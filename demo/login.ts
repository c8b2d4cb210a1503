import { setTimeout } from 'node:timers/promises'
import type { AuthContext, AuthenticationType } from 'ssh2'
import type { User } from './account.ts'

/** The login methods of the imitated host; a host offers one of the two. */
export type LoginMethod = Extract<AuthenticationType, 'password' | 'keyboard-interactive'>

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

  const decide = async (context: AuthContext, password: string | undefined): Promise<void> => {
    onPassword(context.username)
    const user = users.get(context.username)
    if (user && password === user.password) {
      if (enter(user)) context.accept()
      return
    }
    tries += 1
    await setTimeout(wrongMs, undefined, { signal })
    if (tries >= TRIES) end()
    else context.reject([method])
  }

  return (context: AuthContext): void => {
    // close() ended the wait: there is no client left to answer.
    const settle = (password: string | undefined) => void decide(context, password).catch(() => {})
    if (context.method !== method) context.reject([method])
    else if (context.method === 'password') settle(context.password)
    else if (context.method === 'keyboard-interactive') {
      context.prompt([{ prompt: 'Password: ', echo: false }], (answers) => settle(answers[0]))
    }
  }
}
