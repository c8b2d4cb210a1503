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

/** `onConnect` is awaited for each new connection before it is used; what it throws ends the connection. */
export function createSshPool(onConnect: (account: SshAccount, connection: SshConnection) => Promise<void>): SshPool {
  const members = new Set<Member>()
  const waiting: (() => void)[] = []
  let connecting: Promise<unknown> = Promise.resolve()
  let closed = false

  const wake = () => waiting.shift()?.()

  const drop = (member: Member) => {
    clearTimeout(member.idle)
    members.delete(member)
    wake()
  }

  const release = (member: Member) => {
    member.channels -= 1
    if (member.channels === 0) {
      member.idle = setTimeout(() => member.connection.end(), IDLE_MS)
      member.idle.unref()
    }
    wake()
  }

  const withRoom = (key: string) => [...members].find((member) => member.key === key && member.channels < member.room)

  const add = async (account: SshAccount, key: string): Promise<void> => {
    const connection = await connect(account)
    try {
      await onConnect(account, connection)
      if (closed) throw new SshError('lost', 'le service s’arrête')
    } catch (error) {
      connection.end()
      throw error
    }
    const member: Member = { key, connection, channels: 0, room: CHANNELS, idle: undefined }
    members.add(member)
    connection.onClosed(() => drop(member))
    // Other settings are in force now: what still runs over the old connections may end, nothing new begins there.
    for (const other of members) if (other.key !== key && other.channels === 0) other.connection.end()
  }

  /** One connection is made at a time: sshd drops those that knock in a crowd (MaxStartups). */
  const reserve = async (account: SshAccount): Promise<Member> => {
    const key = JSON.stringify(account)
    for (;;) {
      if (closed) throw new SshError('lost', 'le service s’arrête')
      const free = withRoom(key)
      if (free) {
        clearTimeout(free.idle)
        free.channels += 1
        return free
      }
      if (members.size >= CONNECTIONS) {
        const unused = [...members].find((member) => member.key !== key && member.channels === 0)
        if (unused) unused.connection.end()
        await new Promise<void>((resolve) => waiting.push(resolve))
        continue
      }
      const turn = connecting.then(async () => {
        if (!withRoom(key)) await add(account, key)
      })
      connecting = turn.catch(() => {})
      await turn
    }
  }

  return {
    async open(account, command) {
      for (;;) {
        const member = await reserve(account)
        try {
          const channel = await member.connection.open(command)
          channel.once('close', () => release(member))
          return channel
        } catch (error) {
          release(member)
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
        connection.end()
      }
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}
