/** Limits how many long responses one user reads at a time. */
export interface UserLimit {
  /**
   * Returns the same pieces, read in one of the user's slots; undefined when no slot is free. The slot is released at
   * the end, when the reader leaves, and after a period without reads. A later read takes a slot again and throws when
   * none is free. `service` separates the users of different services.
   */
  read(service: object, user: number, pieces: AsyncGenerator<string>): AsyncIterableIterator<string> | undefined
}

export function createUserLimit(most: number, idleMs: number): UserLimit {
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
    read(service, user, pieces) {
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
