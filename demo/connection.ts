import type { Connection, ServerChannel, Session } from 'ssh2'
import type { User } from './account.ts'
import { runLine } from './channel.ts'
import { createLogin, type LoginMethod } from './login.ts'
import type { Run } from './pct.ts'
import type { Machine, Process } from './process.ts'
import { splitWords } from './words.ts'

/** sshd's MaxSessions, as Debian has it. */
const MAX_SESSIONS = 10

interface Service {
  machine: Machine
  run: Run
  method: LoginMethod
  wrongMs: number
  stopping: AbortSignal
  /** Called with the user of every password attempt, right or wrong. */
  onPassword(username: string): void
  /** Called with each command line, split into words, before it runs. */
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
  // The client was cut off or broke the protocol; its channels close with the connection.
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
  let terminal: Process['terminal']
  session.on('pty', (accept, _reject, { cols, rows }) => {
    terminal = { cols, rows }
    accept?.()
  })
  session.on('window-change', (accept, _reject, { cols, rows }) => {
    if (terminal) Object.assign(terminal, { cols, rows })
    accept?.()
  })
  const begin = (channel: ServerChannel, line: string | undefined) => {
    channel.once('close', onClose)
    void runLine(channel, line, { ...service, user }, terminal)
  }
  session.on('exec', (accept, _reject, { command }) => {
    service.onCommand(splitWords(command) ?? [command])
    begin(accept(), command)
  })
  session.on('shell', (accept) => begin(accept(), undefined))
}
