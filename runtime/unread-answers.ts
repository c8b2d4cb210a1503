import type { ServerResponse } from 'node:http'

/** Bounds what is held for clients that ask and do not read. */
export interface UnreadAnswers {
  /** To be told of each answer once it is given; where more is held than may be, those who hold most are cut off. */
  given(response: ServerResponse, address: string): void
}

/** What the system takes over by itself in any case. */
const LITTLE = 16 * 1024

interface Held {
  bytes: number
  /** With their lengths, the oldest first. */
  answers: Map<ServerResponse, number>
}

/**
 * Keeps at most so many bytes. Beyond that the oldest answers of whichever address holds most are given up with their
 * connections: who reads slowly beside a crowd of those who do not loses nothing. `cut` is told of each.
 */
export function createUnreadAnswers(most: number, cut: (address: string) => void): UnreadAnswers {
  const held = new Map<string, Held>()
  let total = 0

  const leave = (address: string, response: ServerResponse): void => {
    const mine = held.get(address)
    const bytes = mine?.answers.get(response)
    if (!mine || bytes === undefined) return
    mine.answers.delete(response)
    mine.bytes -= bytes
    total -= bytes
    if (mine.answers.size === 0) held.delete(address)
  }

  const giveUpOne = (): void => {
    let most: [address: string, held: Held] | undefined
    for (const each of held) if (!most || each[1].bytes > most[1].bytes) most = each
    const [oldest] = most?.[1].answers.keys() ?? []
    if (!most || !oldest) return
    leave(most[0], oldest)
    oldest.destroy()
    cut(most[0])
  }

  return {
    given(response, address) {
      const bytes = response.writableLength
      if (bytes < LITTLE || response.writableFinished || response.destroyed) return
      const mine = held.get(address) ?? { bytes: 0, answers: new Map() }
      held.set(address, mine)
      mine.answers.set(response, bytes)
      mine.bytes += bytes
      total += bytes
      response.once('close', () => leave(address, response))
      while (total > most) giveUpOne()
    },
  }
}
