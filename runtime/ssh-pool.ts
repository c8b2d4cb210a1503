import type { ClientChannel } from 'ssh2'
import type { Command } from './command.ts'
import type { SshAccount } from './settings.ts'
import { connect, type SshConnection, SshError } from './ssh-connection.ts'

/** Debian's MaxSessions is 10 a connection; two places are left for what a channel's slow end still holds. */
const CHANNELS = 8
/** 256 channels at once; who comes after them waits. */
const CONNECTIONS = 32
/** A connection nobody uses is kept for this long: a login costs 45 ms, and a person clicks again within minutes. */
const IDLE_MS = 300_000
/** A refused password stays refused for this long: asking a host again and again locks accounts (pam_faillock). */
const REFUSED_MS = 15_000

export interface SshPool {
  /** Opens a channel for the account, over a connection that has room, or over a new one. */
  open(account: SshAccount, command: Command): Promise<ClientChannel>
  /** Ends every connection; running channels end with them. */
  close(): void
}

interface Member {
  key: string
  connection: SshConnection
  channels: number
  /** Falls when the host refuses a channel that should have had room. */
  room: number
  idle: NodeJS.Timeout | undefined
}

/** An attempt under way, or one that failed a moment ago. */
interface Attempt {
  key: string
  done: Promise<void>
}

/** `onConnect` is awaited for each new connection before it is used; what it throws ends the connection. */
export function createSshPool(onConnect: (account: SshAccount, connection: SshConnection) => Promise<void>): SshPool {
  const members = new Set<Member>()
  const waiting: (() => void)[] = []
  let attempt: Attempt | undefined
  let closed = false

  const wake = () => waiting.shift()?.()

  const release = (member: Member) => {
    member.channels -= 1
    if (member.channels === 0) {
      member.idle = setTimeout(() => member.connection.end(), IDLE_MS)
      member.idle.unref()
    }
    wake()
  }

  const add = async (account: SshAccount, key: string): Promise<void> => {
    const connection = await connect(account)
    try {
      await onConnect(account, connection)
      if (closed) throw stopping()
    } catch (error) {
      connection.end()
      throw error
    }
    const member: Member = { key, connection, channels: 0, room: CHANNELS, idle: undefined }
    members.add(member)
    connection.onClosed(() => {
      clearTimeout(member.idle)
      members.delete(member)
      wake()
    })
    // Other settings are in force now: what still runs over the old connections may end, nothing new begins there.
    for (const other of members) if (other.key !== key && other.channels === 0) other.connection.end()
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

  const reserve = async (account: SshAccount): Promise<Member> => {
    const key = JSON.stringify(account)
    for (;;) {
      if (closed) throw stopping()
      const free = [...members].find((member) => member.key === key && member.channels < member.room)
      if (free) {
        clearTimeout(free.idle)
        free.channels += 1
        return free
      }
      if (members.size < CONNECTIONS) {
        await grow(account, key)
        continue
      }
      const unused = [...members].find((member) => member.key !== key && member.channels === 0)
      unused?.connection.end()
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }

  return {
    async open(account, command) {
      for (let retried = false; ; ) {
        const member = await reserve(account)
        try {
          const channel = await member.connection.open(command)
          channel.once('close', () => release(member))
          return channel
        } catch (error) {
          release(member)
          if (error instanceof SshError) {
            // A connection that nobody used may have died unnoticed: once more, over another one.
            if (error.reason !== 'lost' || retried) throw error
            retried = true
            continue
          }
          // The host allows fewer channels than Debian does: believe it, as long as there is at least one.
          const refused = error instanceof Error && error.message.includes('Channel open failure')
          if (!refused || member.channels === 0) throw error
          member.room = member.channels
        }
      }
    },
    close() {
      closed = true
      for (const { connection, idle } of members) {
        clearTimeout(idle)
        // A host that has stopped answering would not agree to an end.
        connection.destroy()
      }
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

function stopping(): SshError {
  return new SshError('lost', 'le service s’arrête')
}
