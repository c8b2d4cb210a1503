import * as z from 'zod'
import { Failure } from '../../runtime/errors.ts'
import { textFrame } from '../../runtime/socket.ts'
import { parseTarget, shortened } from '../hypervisor/target.ts'
import { defineSocket, fail } from '../services.ts'
import { Exit, exitFrame, Resize, Size } from './control.ts'
import { relay } from './relay.ts'
import { openShell, whyEnded, whyNone } from './shell.ts'

const Wanted = z.string().meta({ description: '`host`, or `lxc:<id>` for a container.', examples: ['host', 'lxc:101'] })

export default defineSocket({
  path: '/ws/terminal',
  summary: 'A terminal',
  description:
    'Opens a shell on the host or in a container. Binary frames carry the terminal’s bytes in both directions, and may cut a character in two. Text frames carry control messages.',
  auth: 'admin',
  stepUp: true,
  targets: ({ query: { target } }) => [target],
  rateLimit: { limit: 300, seconds: 60, by: 'user' },
  audit: ['terminal_open', 'terminal_close'],
  request: { query: z.object({ target: Wanted.default(''), cols: Size.default(80), rows: Size.default(24) }) },
  sends: {
    output: { description: 'The output of the terminal.' },
    exit: textFrame(
      'Comes once, after the last output: how the shell ended, or why there is none. `reason` is French.',
      Exit,
      { type: 'exit', code: 0 },
    ),
  },
  takes: {
    input: { description: 'The user’s input.' },
    resize: textFrame('The terminal has a new size.', Resize, { type: 'resize', cols: 120, rows: 40 }),
  },
  closes: {
    done: 'After `exit`.',
    refused:
      'No such target or size (`target_invalid`, `invalid_request`), or an invalid text frame (`malformed_frame`).',
    busy: 'Too many terminals are open (`terminals_busy`).',
  },

  async open({ query: { target: name, ...size } }, { host, socket, config, clock, audit }) {
    const refuse = async (why: 'refused' | 'busy', { message, code }: Failure) => {
      await socket.send(exitFrame({ code: null, reason: message }))
      socket.close(why, code)
    }
    const target = parseTarget(name)
    if (!target || target.kind === 'all')
      return refuse('refused', fail('target_invalid', { values: { target: shortened(name) } }))

    let began = 0
    // Input waits until the audit entry with the user's name is written.
    const opening = openShell(host, target, { ...size, signal: socket.closed }).then(async (opened) => {
      began = clock().getTime()
      await audit('terminal_open', { target: name }).catch((error: unknown) => {
        opened.close()
        throw error
      })
      return opened
    })
    const typed = relay(socket, opening, config.terminalIdleMs)
    const terminal = await opening.catch(async (error: unknown) => {
      if (error instanceof Failure && error.code === 'terminals_busy') return refuse('busy', error)
      const reason = socket.closed.aborted ? '' : await whyNone(host, target, error)
      await socket.send(exitFrame({ code: null, reason }))
      return socket.close('done')
    })
    if (!terminal) return
    try {
      const ended = await typed.run(terminal)
      terminal.close()
      const { code, reason } = await whyEnded(host, target, ended, socket.closed)
      const seconds = Math.round((clock().getTime() - began) / 1000)
      await audit('terminal_close', { target: name, details: { seconds, code, ...(reason && { reason }) } })
      await socket.send(exitFrame({ code, reason }))
      socket.close('done')
    } finally {
      terminal.close()
    }
  },
})
