import type { Output } from './channel.ts'
import type { Command } from './command.ts'
import { createGate } from './gate.ts'
import { type Account, IDENTIFY_MS, inspection, newMark, parseAccount } from './identity.ts'
import { createRecent } from './recent.ts'
import { SshError } from './ssh-connection.ts'

/** Asks the host, through the service account, who its accounts are. */
export interface Inspector {
  /**
   * The account of that name as it is now, or `gone`. Rejects with an SshError, or a Failure of the settings, when nobody could
   * be asked within `withinMs`. A `shared` answer may be that of another one who asked for a shared one a moment ago.
   */
  inspect(username: string, options?: { withinMs?: number; shared?: boolean }): Promise<Account | 'gone'>
  /** Shares no answer from before. */
  forget(): void
}

/** One connection has room for eight; a thousand browsers that come back at once have their turn within seconds. */
const ASKED = { running: 8, waiting: 1_000 }
/** So old may a shared answer be: one browser that asks all the time costs the host four commands a minute. */
const SHARED_MS = 15_000
const REMEMBERED = 10_000

/** `run` runs a command with as many rights as there are. */
export function createInspector(run: (command: Command, timeoutMs: number) => Promise<Output>): Inspector {
  const gate = createGate(ASKED)
  let answers = createRecent<{ answer: Promise<Account | 'gone'>; at: number }>(REMEMBERED)

  const ask = async (username: string, withinMs: number): Promise<Account | 'gone'> => {
    const began = performance.now()
    const mark = newMark()
    const work = () => run(inspection(mark, username), Math.max(1, withinMs - (performance.now() - began)))
    const entered = await gate.enter(work, { signal: AbortSignal.timeout(withinMs) })
    if (!entered) throw new SshError('unanswered', `l’hôte n’a pas dit en ${withinMs / 1000} s qui est ${username}`)
    return parseAccount(entered.result.stdout, mark)
  }

  return {
    inspect(username, { withinMs = IDENTIFY_MS, shared = false } = {}) {
      const known = shared ? answers.get(username) : undefined
      if (known && performance.now() - known.at < SHARED_MS) return known.answer
      const remembered = answers
      const entry = { answer: ask(username, withinMs), at: performance.now() }
      // A login's answer is newer than any that is shared, and those who refresh later are to hear it, or ask themselves.
      if (shared) remembered.set(username, entry)
      else remembered.delete(username)
      entry.answer.catch(() => {
        if (remembered.get(username) === entry) remembered.delete(username)
      })
      return entry.answer
    },
    forget() {
      answers = createRecent(REMEMBERED)
    },
  }
}
