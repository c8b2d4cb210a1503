import type { HostTerminal } from '../../runtime/host-terminal.ts'
import { litter } from '../../runtime/litter.ts'
import type { Message, Socket } from '../../runtime/socket.ts'
import { SshError } from '../../runtime/ssh-connection.ts'
import { parseControl } from './control.ts'

/** So much may wait for a client that reads slowly; then the host has to wait too. */
const AHEAD = 256 * 1024

/** Why a relay has ended: the program has, or the connection to the host; nothing was said for too long; the client is gone. */
export type Ended =
  | { by: 'program'; code: number | null; signal?: string }
  | { by: 'host' }
  | { by: 'idle'; minutes: number }
  | { by: 'client' }

/**
 * Hands what the client types to a terminal that is being opened, from now on: until it is there, the client waits. `run`
 * hands its output to the client, and resolves at the end, once the client has been sent all of it.
 */
export function relay(
  socket: Socket,
  opening: Promise<HostTerminal>,
  idleMs: number,
): { run(terminal: HostTerminal): Promise<Ended> } {
  let terminal: HostTerminal | undefined
  opening.then(
    (opened) => {
      terminal = opened
    },
    () => {},
  )
  let active = () => {}

  const take = (to: HostTerminal, message: Message): Promise<void> | undefined => {
    if (message.binary) {
      active()
      return to.write(message.bytes)
    }
    const control = parseControl(message.text)
    if (control) to.resize(control)
    else socket.close('refused', 'malformed_frame')
    return undefined
  }
  socket.receive((message) =>
    terminal
      ? take(terminal, message)
      : opening.then(
          (opened) => take(opened, message),
          () => {},
        ),
  )

  return {
    run: (opened) =>
      new Promise((resolve, reject) => {
        const end = (ended: Ended) => {
          clearTimeout(timer)
          active = () => {}
          socket.closed.removeEventListener('abort', onGone)
          resolve(ended)
        }
        const onGone = () => end({ by: 'client' })
        const timer = setTimeout(() => end({ by: 'idle', minutes: Math.round(idleMs / 60_000) }), idleMs)
        active = () => void timer.refresh()
        if (socket.closed.aborted) return onGone()
        socket.closed.addEventListener('abort', onGone)
        const output = opened.read((bytes) => {
          active()
          const sent = socket.send({ bytes, binary: true })
          litter(bytes.length)
          return socket.waiting() > AHEAD ? sent : undefined
        })
        output
          .then(() => opened.end)
          .then(
            (program) => end({ by: 'program', ...program }),
            (error: unknown) => (error instanceof SshError ? end({ by: 'host' }) : reject(error)),
          )
      }),
  }
}
