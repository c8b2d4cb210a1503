import type { AnyAuthMethod, AuthenticationType } from 'ssh2'

/**
 * One try by password; by keyboard-interactive only when the host then says that it takes that and no password, so
 * that a wrong one is not tried twice.
 */
export function passwordMethods({ username, password }: { username: string; password: string }, began: () => void) {
  let tried: 'nothing' | 'password' | 'keyboard' = 'nothing'
  return (left: AuthenticationType[] | null): AnyAuthMethod | false => {
    began()
    if (tried === 'nothing') {
      tried = 'password'
      return { type: 'password', username, password }
    }
    if (tried === 'password' && left?.includes('keyboard-interactive') && !left.includes('password')) {
      tried = 'keyboard'
      return { type: 'keyboard-interactive', username, prompt: answerOnce(password) }
    }
    return false
  }
}

/** Gives the password to the first hidden question; whatever is asked after it (a code, a new password) stays open. */
function answerOnce(password: string) {
  let answered = false
  return (
    _name: string,
    _text: string,
    _lang: string,
    prompts: { echo?: boolean }[],
    finish: (answers: string[]) => void,
  ) => {
    finish(
      prompts.map(({ echo }) => {
        if (echo || answered) return ''
        answered = true
        return password
      }),
    )
  }
}
