import type { Server, Socket } from 'node:net'
import { limitKey, plainAddress } from './caller.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import { createRepeats } from './repeats.ts'

/** How many connections may be open at once. */
export interface ConnectionBounds {
  all: number
  /** Of one address; a proxy's are those of many. */
  ofOne: number
  /** The same once half of all are open. */
  ofOneWhenScarce: number
}

/**
 * Each takes a descriptor, of which the database and the host need some as well, and up to 24 KiB while its headers are coming:
 * 190 MiB of them all.
 */
const BOUNDS: ConnectionBounds = { all: 8_000, ofOne: 2_000, ofOneWhenScarce: 100 }

/** Closes what comes beyond the bounds, without a word: one that is well-behaved comes again. */
export function boundConnections(
  server: Server,
  { isTrustedProxy, log, clock }: Pick<Config, 'isTrustedProxy'> & { log: Log; clock: Clock },
  { all, ofOne, ofOneWhenScarce }: ConnectionBounds = BOUNDS,
): void {
  const open = new Set<Socket>()
  const counts = new Map<string, number>()
  const refusals = createRepeats(clock, { allUpTo: 1 })

  const mayStay = (address: string, count: number): boolean => {
    if (open.size >= all) return false
    return isTrustedProxy(address) || count < (open.size < all / 2 ? ofOne : ofOneWhenScarce)
  }

  server.on('connection', (socket: Socket) => {
    // One whose wish for an upgrade is passed over comes here again.
    if (open.has(socket)) return
    const address = plainAddress(socket.remoteAddress ?? '')
    const who = limitKey(address)
    const count = counts.get(who) ?? 0
    if (!mayStay(address, count)) {
      // Of a crowd of addresses as well, each doubling alone.
      const times = refusals.tell('')
      if (times) log.warn({ address, times, open: open.size, of_address: count }, 'too many connections')
      return void socket.destroy()
    }
    open.add(socket)
    counts.set(who, count + 1)
    socket.once('close', () => {
      open.delete(socket)
      const left = (counts.get(who) ?? 1) - 1
      if (left > 0) counts.set(who, left)
      else counts.delete(who)
    })
  })
}
