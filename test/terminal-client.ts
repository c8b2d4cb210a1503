import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { checkClose, checkFrame } from './declared-frames.ts'

const Exit = z.object({ type: z.literal('exit'), code: z.number().nullable(), reason: z.string().optional() })

/** Generous: this machine may have other work. */
export const WAIT = { timeout: 60_000 }
/** Only the newest part is searched, for speed. */
const RECENT = 16 * 1024

/** A terminal like a browser's, which records what it receives. */
export async function openTerminal(
  { url, token }: { url: string; token: string },
  target: string,
  { cols = 80, rows = 24 }: { cols?: number | string; rows?: number | string } = {},
) {
  const query = new URLSearchParams({ target, cols: String(cols), rows: String(rows) })
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws/terminal?${query}`, ['panel.v1', `bearer.${token}`], {
    perMessageDeflate: false,
  })
  onTestFinished(() => ws.terminate())
  let pieces: Buffer[] = []
  let recent = Buffer.alloc(0)
  let exit: z.infer<typeof Exit> | undefined
  ws.on('error', () => {})
  ws.on('message', (data: Buffer, binary: boolean) => {
    if (binary) {
      pieces.push(data)
      recent = Buffer.concat([recent, data]).subarray(-RECENT)
    } else {
      checkFrame('/ws/terminal', data.toString())
      exit = Exit.parse(JSON.parse(data.toString()))
    }
  })
  const closed = new Promise<{ code: number; word: string }>((resolve) =>
    ws.once('close', (code, word) => {
      checkClose('/ws/terminal', code)
      resolve({ code, word: word.toString() })
    }),
  )
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('close', () => reject(new Error('closed before it was open')))
  })
  const bytes = () => {
    const all = Buffer.concat(pieces)
    pieces = [all]
    return all
  }
  const seen = () => bytes().toString()
  const newest = () => (exit ? `${recent}${JSON.stringify(exit)}` : recent.toString())
  return {
    ws,
    bytes,
    seen,
    exit: () => exit,
    /** The close code, and its reason. */
    closed,
    type: (text: string | Buffer) => ws.send(Buffer.from(text), { binary: true }),
    tell: (frame: object) => ws.send(JSON.stringify(frame)),
    /** Waits for a text in the newest output. A failure also shows the end of the terminal, which explains what is missing. */
    until: (wanted: string | RegExp) => expect.poll(newest, WAIT).toMatch(wanted),
    /** Forgets the output so far. */
    forget() {
      pieces = []
      recent = Buffer.alloc(0)
    },
  }
}

export type Terminal = Awaited<ReturnType<typeof openTerminal>>

let asked = 0

/** Types a command line and returns its output, once it has ended. Needs an idle shell. */
export async function say(terminal: Terminal, line: string): Promise<string> {
  asked += 1
  const [begin, end] = [`begin-${asked}:`, `:end-${asked}`]
  // In parts, so that the echo of the input contains neither.
  terminal.type(`printf 'be%s' 'gin-${asked}:'; ${line}; printf ':en%s' 'd-${asked}'\r`)
  await terminal.until(end)
  const text = terminal.seen()
  return text.slice(text.indexOf(begin) + begin.length, text.indexOf(end))
}
