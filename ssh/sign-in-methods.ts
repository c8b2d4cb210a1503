import type { AnyAuthMethod, AuthenticationType } from 'ssh2'
import { type Ask, promptAnswers } from './login/prompts.ts'
import type { SshAccount } from './settings.ts'

/** The methods that take a password, the better one first: PAM can ask for more only by keyboard-interactive. */
const BY_PASSWORD = ['keyboard-interactive', 'password'] as const

/** The login methods of an account, and what became of them. */
export interface SignInMethods {
  /** The method to try next, among those that the host offers; null before it has offered any. */
  next(left: AuthenticationType[] | null, partial: boolean | null): AnyAuthMethod | false
  /** Whether the host has received anything that only the account’s owner knows. A host may accept accounts without. */
  isProven(): boolean
  /**
   * The French message where the host wants a new password by `SSH_MSG_USERAUTH_PASSWD_CHANGEREQ`. OpenSSH
   * never sends that, with PAM it asks by keyboard-interactive; so the password is changed elsewhere.
   */
  expired: string
  /** The refusal of the host, in French. */
  refusal(): { reason: 'bad_credentials' | 'no_passwords'; message: string }
}

/**
 * Signs in by the account’s key where it has one, else or then by its password, which is sent once: a wrong one is not
 * repeated by another method. Without a key, the request `none` asks first which methods the host offers; sshd does not
 * count it as a failure. `began` is called when a method is asked for, `ask` when the host asks more than the password,
 * `giveUp` when it asks too much or `ask` rejects.
 */
export function signInMethods(
  { username, password, key }: Pick<SshAccount, 'username' | 'password' | 'key'>,
  { began, ask, giveUp }: { began(): void; ask: Ask; giveUp(error: unknown): void },
): SignInMethods {
  const tried = new Set<string>()
  let offered: readonly string[] = []
  /** Whether the host has judged a password or an answer, ever and since it last accepted a method as one of several. */
  let [isSent, isJudged] = [false, false]
  const onAnswer = () => {
    isSent = true
    isJudged = true
  }
  const prompt = promptAnswers(password, { ask, onAnswer, giveUp })
  return {
    next(left, partial) {
      began()
      if (left === null) return key ? { type: 'publickey', username, key } : { type: 'none', username }
      offered = left
      if (partial) isJudged = false
      if (isJudged || password === '') return false
      const method = BY_PASSWORD.find((name) => left.includes(name) && !tried.has(name))
      if (method === undefined) return false
      tried.add(method)
      if (method === 'keyboard-interactive') return { type: method, username, prompt }
      onAnswer()
      return { type: method, username, password }
    },
    expired: `le mot de passe de ${username} a expiré : il doit être changé par ssh`,
    isProven: () => isSent || key !== undefined,
    refusal() {
      if (key) {
        const message = offered.includes('publickey')
          ? isSent
            ? `l’hôte refuse la clé et le mot de passe de ${username}`
            : `l’hôte refuse la clé de ${username}`
          : isSent
            ? `l’hôte n’accepte aucune clé, et refuse le mot de passe de ${username}`
            : `l’hôte n’accepte aucune clé de ${username} (PubkeyAuthentication)`
        return { reason: 'bad_credentials', message }
      }
      if (isSent || BY_PASSWORD.some((name) => offered.includes(name)))
        return { reason: 'bad_credentials', message: `authentification refusée pour ${username}` }
      const methods = offered.filter((name) => /^[\w@.-]{1,64}$/.test(name)).slice(0, 5)
      const instead = methods.length > 0 ? `, seulement : ${methods.join(', ')}` : ''
      return { reason: 'no_passwords', message: `l’hôte n’accepte pas de mot de passe pour ${username}${instead}` }
    },
  }
}
