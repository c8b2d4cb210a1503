import type { Connection, Session } from 'ssh2'
import type { User } from './account.ts'
import { runLine } from './channel.ts'
import { createLogin, type LoginMethod } from './login.ts'
import type { Run } from './pct.ts'
import type { Machine } from './process.ts'
import { splitWords } from './words.ts'

/** sshd's MaxSessions, as Debian has it. */
const MAX_SESSIONS = 10

interface Service {
  machine: Machine
  run: Run
  method: LoginMethod
  wrongMs: number
  stopping: AbortSignal
  /** Told who gives a password, right or wrong. */
  onPassword(username: string): void
  /** Told each command line before it runs, as words. */
  onCommand(words: readonly string[]): void
}

/** Serves one client: its login, and up to ten sessions at a time. */
export function serve(connection: Connection, service: Service): void {
  let user: User | undefined
  let sessions = 0
  const enter = (account: User) => {
    user = account
    // As with sshd, an expired account gets neither an error nor a session.
    if (account.expired) connection.end()
    return !account.expired
  }
  const { machine, method, wrongMs, stopping, onPassword } = service
  const rules = { users: machine.users, method, wrongMs, signal: stopping, onPassword }
  connection.on(
    'authentication',
    createLogin(rules, enter, () => connection.end()),
  )
  // A client that is cut off or breaks the protocol; its channels close with it.
  connection.on('error', () => {})
  connection.on('session', (accept, reject) => {
    if (!user || sessions >= MAX_SESSIONS) return reject()
    sessions += 1
    openSession(accept(), user, service, () => {
      sessions -= 1
    })
  })
}

function openSession(session: Session, user: User, service: Service, onClose: () => void): void {
  session.on('exec', (accept, _reject, { command }) => {
    const channel = accept()
    channel.once('close', onClose)
    service.onCommand(splitWords(command) ?? [command])
    void runLine(channel, command, { ...service, user })
  })
  session.on('pty', (accept) => accept?.())
  session.on('shell', (accept) => {
    const channel = accept()
    channel.once('close', onClose)
    channel.resume()
    channel.write('Hôte de démonstration : imitation, sans interpréteur de commandes.\r\n')
    channel.exit(1)
    channel.end()
  })
}
