import type { ClientChannel, PseudoTtyOptions } from 'ssh2'
import type { Command } from './command.ts'
import type { SshAccount } from './settings.ts'
import { OutdatedError } from './settings-in-force.ts'
import { connect, type SshConnection, SshError } from './ssh-connection.ts'

/** Debian's MaxSessions is 10 a connection; two places are left for what a channel's slow end still holds. */
const CHANNELS = 8
/** Who finds no room for this long is told so: a person is waiting. */
const ROOM_MS = 15_000
/** A connection nobody uses is kept for this long: a login costs 45 ms, and a person clicks again within minutes. */
const IDLE_MS = 300_000
/** A refused password stays refused for this long: asking a host again and again locks accounts (pam_faillock). */
const REFUSED_MS = 15_000
/** A command that was given up has ended by then, or the host goes on with it: sshd keeps its place until it ends. */
const ABANDONED_MS = 10_000

export interface SshPool {
  /** Opens a channel for the account, over a connection that has room, or over a new one; see `SshConnection`. */
  open(account: SshAccount, command: Command | undefined, pty?: PseudoTtyOptions): Promise<ClientChannel>
  /** Cuts the connection that a channel belongs to, and all that runs over it. */
  cut(channel: ClientChannel): void
  /**
   * A channel was given up. Where the host does not end its command soon, its connection is used for nothing new, and cut as
   * soon as nothing else runs over it: what never ends takes no place for good.
   */
  abandon(channel: ClientChannel): void
  /**
   * Other settings are in force: forgets refusals, and ends the connections that nobody uses, the others as soon as what
   * runs over them has come to its end. One that is being made is not used.
   */
  renew(): void
  /** Cuts every connection: the host may have gone without a word. The next channel is opened over a new one. */
  cutAll(): void
  /** How many connections there are. */
  size(): number
  /** Ends every connection; running channels end with them. */
  close(): void
}

interface Member {
  key: string
  era: number
  connection: SshConnection
  channels: number
  /** Falls when the host refuses a channel that should have had room. */
  room: number
  /** Of the channels, those that were given up and have not closed. */
  abandoned: Set<ClientChannel>
  idle: NodeJS.Timeout | undefined
}

/** An attempt under way, or one that failed a moment ago. */
interface Attempt {
  key: string
  done: Promise<void>
}

/**
 * At most `connections`, with as many channels each. `onConnect` is awaited for each new one before it is used; what it
 * throws ends it.
 */
export function createSshPool(
  connections: number,
  onConnect: (account: SshAccount, connection: SshConnection) => Promise<void>,
  channels = CHANNELS,
): SshPool {
  const members = new Set<Member>()
  /** Those that are used for nothing new, because the host goes on with what was given up. */
  const leaving = new Set<Member>()
  const owners = new WeakMap<ClientChannel, Member>()
  const closed = new WeakSet<ClientChannel>()
  const waiting: (() => void)[] = []
  let attempt: Attempt | undefined
  /** Counts the settings that have been in force. */
  let era = 0
  const closing = new AbortController()

  const wake = () => waiting.shift()?.()

  /** Nobody is given it any more: it may take a moment to end. */
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
    // Other settings are in force now: what still runs over the old connections may end, nothing new begins there.
    for (const other of members) if (other.key !== key && other.channels === 0) retire(other)
  }

  /**
   * One connection is made at a time, because sshd drops those that knock in a crowd (MaxStartups). Who comes meanwhile
   * shares the attempt, and its failure: a host that does not answer keeps nobody waiting twice, and a password that
   * was refused is not tried again before `REFUSED_MS`, so that nothing locks the account.
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
      if (error instanceof SshError && error.reason === 'bad_credentials') setTimeout(forget, REFUSED_MS).unref()
      else forget()
    })
    return mine.done
  }

  /** Settles when a place may have become free; rejects when that takes too long. */
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
            // A connection that nobody used may have died unnoticed: once more, over another one.
            if (error.reason !== 'lost' || lost) throw error
            lost = true
            continue
          }
          // The host allows fewer channels than Debian does: believe it, as long as there is at least one.
          if (member.channels === 0) throw lost ? afterLoss(error) : error
          member.room = member.channels
        }
      }
    },
    cut: (channel) => owners.get(channel)?.connection.destroy(),
    abandon(channel) {
      const member = owners.get(channel)
      if (!member || closed.has(channel)) return
      const timer = setTimeout(() => {
        member.abandoned.add(channel)
        if (members.delete(member)) leaving.add(member)
        cutAlone(member)
        // A whole connection can be made in its place.
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
      // A host that has stopped answering would not agree to an end: connections are cut, those being made too.
      closing.abort()
      for (const { idle } of members) clearTimeout(idle)
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

/** What kept a command from being sent again, over another connection, when the first one was lost with it under way. */
function afterLoss(error: unknown): unknown {
  if (!(error instanceof SshError) || error instanceof OutdatedError) return error
  const { reason, message, hostKey } = error
  return new SshError(reason, message, { cause: error, hostKey, mayHaveBegun: true })
}

function stopping(): SshError {
  return new SshError('lost', 'le service s’arrête')
}
