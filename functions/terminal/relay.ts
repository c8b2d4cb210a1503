import type { Message, Socket } from '../../runtime/socket.ts'
import { type HostTerminal, SshError } from '../../ssh/ssh.ts'
import { parseControl } from './control.ts'

/** Bytes that may wait for a slow client before the host has to wait too. */
const AHEAD = 256 * 1024

/**
 * Why a relay ended: the program ended, the connection to the host was lost, the terminal was idle for too long, or the
 * client left.
 */
export type Ended =
  | { by: 'program'; code: number | null; signal?: string }
  | { by: 'host' }
  | { by: 'idle'; minutes: number }
  | { by: 'client' }

/**
 * Connects a client to a terminal that is still opening; the client's input waits until the terminal is open. `run`
 * sends the output to the client, and resolves when the client has been sent all of it.
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
          return socket.bufferedBytes() > AHEAD ? sent : undefined
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
