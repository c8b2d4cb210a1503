import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import { createRepeatCounter } from '../platform/recent-cache.ts'
import { limitKey, plainAddress } from '../runtime/caller.ts'

/** How many connections may be open at once. */
export interface ConnectionLimits {
  all: number
  /** Per address. A proxy's connections carry many clients. */
  perAddress: number
  /** Per address, once half of all connections are open. */
  perAddressWhenScarce: number
}

/**
 * Each connection takes a file descriptor, which the database and the SSH connections need as well, and up to 24 KiB
 * while its headers arrive: 190 MiB for all.
 */
const BOUNDS: ConnectionLimits = { all: 8_000, perAddress: 2_000, perAddressWhenScarce: 100 }

/**
 * Closes connections beyond the limits without an answer, so that one client cannot use up all file descriptors.
 * Well-behaved clients retry.
 */
export function limitConnections(
  server: Server,
  { isTrustedProxy, log, clock }: Pick<Config, 'isTrustedProxy'> & { log: Log; clock: Clock },
  { all, perAddress, perAddressWhenScarce }: ConnectionLimits = BOUNDS,
): void {
  const open = new Set<Socket>()
  const counts = new Map<string, number>()
  const refusals = createRepeatCounter(clock, { allUpTo: 1 })

  const mayStay = (address: string, count: number): boolean => {
    if (open.size >= all) return false
    return isTrustedProxy(address) || count < (open.size < all / 2 ? perAddress : perAddressWhenScarce)
  }

  server.on('connection', (socket: Socket) => {
    // Node emits a connection again when its upgrade request was ignored.
    if (open.has(socket)) return
    const address = plainAddress(socket.remoteAddress ?? '')
    const key = limitKey(address)
    const count = counts.get(key) ?? 0
    if (!mayStay(address, count)) {
      // The count covers all addresses together, so a flood from many addresses is sampled too.
      const times = refusals.count('')
      if (times) log.warn({ address, times, open: open.size, of_address: count }, 'too many connections')
      return void socket.destroy()
    }
    open.add(socket)
    counts.set(key, count + 1)
    socket.once('close', () => {
      open.delete(socket)
      const left = (counts.get(key) ?? 1) - 1
      if (left > 0) counts.set(key, left)
      else counts.delete(key)
    })
  })
}

/** Limits the response bytes held for clients that do not read, which would otherwise exhaust the memory. */
export interface ResponseBacklog {
  /**
   * Registers a response once it is written. When the total exceeds the limit, the clients that hold most are cut off.
   */
  add(response: ServerResponse, address: string): void
}

/** The operating system buffers this much in any case. */
const LITTLE = 16 * 1024

interface Held {
  bytes: number
  /** The responses with their lengths, oldest first. */
  answers: Map<ServerResponse, number>
}

/**
 * Keeps at most `most` bytes. Beyond that it destroys the oldest responses of the address that holds most, with their
 * connections. A slow reader loses nothing to many clients that do not read. Calls `cut` for each destroyed response.
 */
export function createResponseBacklog(most: number, cut: (address: string) => void): ResponseBacklog {
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
    add(response, address) {
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
