import { createPriorityQueue } from '../platform/priority-queue.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import type { Output } from './channel.ts'
import type { Command } from './command.ts'
import { SshError } from './connection.ts'
import { type Account, IDENTIFY_MS, inspection, newMark, parseAccount } from './identity.ts'

/** Asks the host about accounts, through the service account. */
export interface AccountLookup {
  /**
   * Returns the account as it is now, or `gone`. A `shared` call may return the answer that another shared call
   * received within the last 15 s. Rejects with an SshError, or a Failure of the settings, when the host gives no
   * answer within `withinMs`.
   */
  lookUp(username: string, options?: { withinMs?: number; shared?: boolean }): Promise<Account | 'gone'>
  /** Drops the shared answers. */
  forget(): void
}

/** A connection carries eight channels. A thousand browsers that reconnect at once are served within seconds. */
const ASKED = { running: 8, waiting: 1_000 }
/** Maximum age of a shared answer: a browser that refreshes all the time costs the host four commands a minute. */
const SHARED_MS = 15_000
const REMEMBERED = 10_000

/** `run` runs a command with the highest rights that the service account has. */
export function createAccountLookup(run: (command: Command, timeoutMs: number) => Promise<Output>): AccountLookup {
  const queue = createPriorityQueue(ASKED)
  let answers = createRecentCache<{ answer: Promise<Account | 'gone'>; at: number }>(REMEMBERED)

  const ask = async (username: string, withinMs: number): Promise<Account | 'gone'> => {
    const began = performance.now()
    const mark = newMark()
    const work = () => run(inspection(mark, username), Math.max(1, withinMs - (performance.now() - began)))
    const admitted = await queue.run(work, { signal: AbortSignal.timeout(withinMs) })
    if (!admitted)
      throw new SshError('unanswered', `l’hôte n’a pas indiqué en ${withinMs / 1000} s qui est ${username}`)
    return parseAccount(admitted.result.stdout, mark)
  }

  return {
    lookUp(username, { withinMs = IDENTIFY_MS, shared = false } = {}) {
      const known = shared ? answers.get(username) : undefined
      if (known && performance.now() - known.at < SHARED_MS) return known.answer
      const remembered = answers
      const entry = { answer: ask(username, withinMs), at: performance.now() }
      // The answer to a login is newer than any shared one, so later refreshes must not use the older answer.
      if (shared) remembered.set(username, entry)
      else remembered.delete(username)
      entry.answer.catch(() => {
        if (remembered.get(username) === entry) remembered.delete(username)
      })
      return entry.answer
    },
    forget() {
      answers = createRecentCache(REMEMBERED)
    },
  }
}
