import { Failure } from './errors.ts'
import { JsonStream } from './json-stream.ts'

/** Long answers that one user reads at a time: each may be many megabytes. */
const LONG_ANSWERS = 2
/** A long answer that nobody reads from keeps its place for so long. */
const IDLE_MS = 30_000
/** Reading one takes seconds. */
const AGAIN_S = 5

/**
 * Gives the pieces of a long answer as one, two at a time for a user of a service (see `AtOnce`); throws `rate_limited`,
 * which the endpoint declares, when the user reads two already.
 */
export function createLongAnswers(): (service: object, user: number, pieces: AsyncGenerator<string>) => JsonStream {
  const readers = createAtOnce(LONG_ANSWERS, IDLE_MS)
  return (service, user, pieces) => {
    const read = readers.enter(service, user, pieces)
    if (!read) throw new Failure('rate_limited', { values: { seconds: AGAIN_S }, retryAfter: AGAIN_S })
    return new JsonStream(read)
  }
}

/** Bounds how many long answers one user reads at a time. */
export interface AtOnce {
  /**
   * The same pieces, read in one of the user's places; undefined when there is none. The place is free again at their end,
   * when the reader leaves, and when nothing is asked for during a while; whoever asks again after that needs a place again,
   * and the pieces break off where there is none. `service` tells the users of one service from those of another.
   */
  enter(service: object, user: number, pieces: AsyncGenerator<string>): AsyncIterableIterator<string> | undefined
}

export function createAtOnce(most: number, idleMs: number): AtOnce {
  const services = new WeakMap<object, Map<number, number>>()

  const take = (users: Map<number, number>, user: number): (() => void) | undefined => {
    const taken = users.get(user) ?? 0
    if (taken >= most) return undefined
    users.set(user, taken + 1)
    return () => {
      const left = (users.get(user) ?? 0) - 1
      if (left > 0) users.set(user, left)
      else users.delete(user)
    }
  }

  return {
    enter(service, user, pieces) {
      const users = services.get(service) ?? new Map<number, number>()
      services.set(service, users)
      let leave = take(users, user)
      if (!leave) return undefined
      let idle: NodeJS.Timeout | undefined
      const free = () => {
        clearTimeout(idle)
        leave?.()
        leave = undefined
      }
      const wait = () => {
        idle = setTimeout(free, idleMs).unref()
      }
      wait()
      return {
        [Symbol.asyncIterator]() {
          return this
        },
        async next() {
          clearTimeout(idle)
          leave ??= take(users, user)
          try {
            if (!leave) throw new Error('too many long answers are read at once')
            const piece = await pieces.next()
            if (piece.done) free()
            else wait()
            return piece
          } catch (error) {
            free()
            throw error
          }
        },
        async return() {
          free()
          return pieces.return(undefined)
        },
      }
    },
  }
}
