/*
 * A pool of SSH connections with a bounded number of channels. Parallel commands stay within sshd’s MaxStartups and
 * MaxSessions, and a wrong password is not repeated, which could lock the service account.
 */

import type { ClientChannel, PseudoTtyOptions } from 'ssh2'
import type { Command } from './command.ts'
import { connect, type SshConnection, SshError } from './connection.ts'
import type { SshAccount } from './settings.ts'

/** Debian’s MaxSessions is 10 per connection; two slots stay free for channels that close slowly. */
const CHANNELS = 8
/** A call that finds no slot within this time fails: a person is waiting. */
const ROOM_MS = 15_000
/** Idle time of a connection: a login costs 45 ms, and a person often clicks again within minutes. */
const IDLE_MS = 300_000
/** A refused password is not retried for this long: repeated attempts lock accounts (pam_faillock). */
const REFUSED_MS = 15_000
const LASTING: ReadonlySet<SshError['reason']> = new Set([
  'bad_credentials',
  'no_passwords',
  'asks_more',
  'password_expired',
])
/** Time for a command that was given up to end. After that, sshd keeps its slot until the command ends. */
const ABANDONED_MS = 10_000

export interface SshPool {
  /** Opens a channel for the account on a connection with a free slot, or on a new one; see `SshConnection`. */
  open(account: SshAccount, command: Command | undefined, pty?: PseudoTtyOptions): Promise<ClientChannel>
  /** Cuts the connection of a channel and everything that runs over it; nothing once the channel has closed. */
  cut(channel: ClientChannel): void
  /**
   * Reports a channel that was given up. If its command does not end soon, its connection takes no new channels, and
   * is cut when nothing else runs over it. An endless command therefore holds no slot for good.
   */
  abandon(channel: ClientChannel): void
  /**
   * Applies new settings: forgets refusals, ends idle connections now and busy ones when their channels have ended. A
   * connection that is being made is not used.
   */
  renew(): void
  /** Cuts every connection, because the host may be gone. The next channel opens on a new connection. */
  cutAll(): void
  /** Returns the number of connections. */
  size(): number
  /** Ends every connection together with its channels. */
  close(): void
}

interface Member {
  key: string
  era: number
  connection: SshConnection
  channels: number
  /** Reduced when the host refuses a channel within this limit. */
  room: number
  /** Channels that were given up and have not closed. */
  abandoned: Set<ClientChannel>
  idle: NodeJS.Timeout | undefined
}

/** An attempt to connect that is running or failed a moment ago. */
interface Attempt {
  key: string
  done: Promise<void>
}

/**
 * Creates a pool of at most `connections`, with as many channels each as the third argument allows. `onConnect` is
 * awaited before a new connection is used; its rejection ends the connection.
 */
export function createSshPool(
  connections: number,
  onConnect: (account: SshAccount, connection: SshConnection) => Promise<void>,
  channels = CHANNELS,
): SshPool {
  const members = new Set<Member>()
  /** Connections that take no new channels because the host still runs a command that was given up. */
  const leaving = new Set<Member>()
  const owners = new WeakMap<ClientChannel, Member>()
  const closed = new WeakSet<ClientChannel>()
  const waiting: (() => void)[] = []
  let attempt: Attempt | undefined
  /** Number of changes of the settings. */
  let era = 0
  const closing = new AbortController()

  const wake = () => waiting.shift()?.()

  /** Removes a connection from use; it may take a moment to end. */
  const retire = (member: Member) => {
    members.delete(member)
    clearTimeout(member.idle)
    member.connection.end()
  }

  const cutAlone = (member: Member) => {
    if (leaving.has(member) && member.channels === member.abandoned.size) member.connection.destroy()
  }

  const release = (member: Member) => {
    member.channels -= 1
    if (leaving.has(member)) cutAlone(member)
    else if (member.channels === 0 && member.era !== era) retire(member)
    else if (member.channels === 0) {
      member.idle = setTimeout(() => retire(member), IDLE_MS)
      member.idle.unref()
    }
    wake()
  }

  const add = async (account: SshAccount, key: string): Promise<void> => {
    const begun = era
    const connection = await connect(account, closing.signal)
    try {
      await onConnect(account, connection)
      if (closing.signal.aborted) throw stopping()
      if (begun !== era) throw new OutdatedError()
    } catch (error) {
      connection.end()
      throw error
    }
    const member: Member = { key, era, connection, channels: 0, room: channels, abandoned: new Set(), idle: undefined }
    members.add(member)
    connection.onClosed(() => {
      clearTimeout(member.idle)
      members.delete(member)
      leaving.delete(member)
      wake()
    })
    // The settings have changed: channels on old connections may end, and nothing new begins there.
    for (const other of members) if (other.key !== key && other.channels === 0) retire(other)
  }

  /**
   * Makes one connection at a time, because sshd drops many simultaneous ones (MaxStartups). Concurrent calls share
   * the attempt and its failure. An unreachable host is therefore waited for once, and a refused password is not
   * tried again before `REFUSED_MS`, so that the account is not locked.
   */
  const grow = (account: SshAccount, key: string): Promise<void> => {
    if (attempt && attempt.key === key) return attempt.done
    const before = attempt?.done.catch(() => {})
    const mine: Attempt = { key, done: Promise.resolve(before).then(() => add(account, key)) }
    attempt = mine
    const forget = () => {
      if (attempt === mine) attempt = undefined
    }
    mine.done.then(forget, (error: unknown) => {
      if (error instanceof SshError && LASTING.has(error.reason)) setTimeout(forget, REFUSED_MS).unref()
      else forget()
    })
    return mine.done
  }

  /** Resolves when a slot may have become free; rejects when that takes too long. */
  const room = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(new SshError('refused', 'trop de commandes sont en cours sur l’hôte'))
      }, ROOM_MS)
      const enter = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.push(enter)
    })

  const reserve = async (account: SshAccount): Promise<Member> => {
    const key = JSON.stringify(account)
    for (;;) {
      if (closing.signal.aborted) throw stopping()
      const free = [...members].find(
        (member) => member.key === key && member.era === era && member.channels < member.room,
      )
      if (free) {
        clearTimeout(free.idle)
        free.channels += 1
        return free
      }
      if (members.size < connections) {
        await grow(account, key)
        continue
      }
      const unused = [...members].find((member) => member.key !== key && member.channels === 0)
      if (unused) retire(unused)
      else await room()
    }
  }

  return {
    async open(account, command, pty) {
      for (let lost = false; ; ) {
        const member = await reserve(account).catch((error: unknown) => {
          throw lost ? afterLoss(error) : error
        })
        try {
          const channel = await member.connection.open(command, pty)
          owners.set(channel, member)
          channel.once('close', () => {
            closed.add(channel)
            member.abandoned.delete(channel)
            release(member)
          })
          return channel
        } catch (error) {
          release(member)
          if (!(error instanceof SshError)) throw error
          if (error.reason !== 'refused') {
            // An idle connection may have died unnoticed: try once more on another one.
            if (error.reason !== 'lost' || lost) throw error
            lost = true
            continue
          }
          // The host allows fewer channels than Debian does: adopt its limit if it is at least one.
          if (member.channels === 0) throw lost ? afterLoss(error) : error
          member.room = member.channels
        }
      }
    },
    cut(channel) {
      if (!closed.has(channel)) owners.get(channel)?.connection.destroy()
    },
    abandon(channel) {
      const member = owners.get(channel)
      if (!member || closed.has(channel)) return
      const timer = setTimeout(() => {
        member.abandoned.add(channel)
        if (members.delete(member)) leaving.add(member)
        cutAlone(member)
        // A whole new connection can replace it.
        for (const enter of waiting.splice(0)) enter()
      }, ABANDONED_MS).unref()
      channel.once('close', () => clearTimeout(timer))
    },
    size: () => members.size,
    renew() {
      era += 1
      attempt = undefined
      for (const member of members) if (member.channels === 0) retire(member)
    },
    cutAll() {
      era += 1
      attempt = undefined
      for (const { connection } of [...members, ...leaving]) connection.destroy()
    },
    close() {
      // A host that does not respond would not confirm a clean close, so all connections are cut, including
      // unfinished ones.
      closing.abort()
      for (const { idle } of members) clearTimeout(idle)
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

/** Marks an error that prevented a second attempt after a lost connection: the first attempt may have begun. */
function afterLoss(error: unknown): unknown {
  if (!(error instanceof SshError) || error instanceof OutdatedError) return error
  const { reason, message, hostKey } = error
  return new SshError(reason, message, { cause: error, hostKey, mayHaveBegun: true })
}

function stopping(): SshError {
  return new SshError('lost', 'le service s’arrête')
}

/** The settings changed while a connection with the previous ones was being made. */
export class OutdatedError extends SshError {
  constructor() {
    super('lost', 'les réglages ont changé entre-temps')
  }
}

/** Runs `work` with the current settings; runs it once more when they changed meanwhile. */
export async function withCurrentSettings<result>(work: () => Promise<result>): Promise<result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OutdatedError)) throw error
    return work()
  }
}
