import { WebSocket } from 'ws'
import * as z from 'zod'
import { answer } from './child.ts'

const Question = z.object({ url: z.string(), token: z.string(), command: z.string(), bytes: z.number() })
const Exit = z.object({ type: z.literal('exit'), code: z.number().nullable() })

/** Opens a terminal, runs a command instead of its shell and reads all of its output; returns milliseconds. */
answer(Question, async ({ url, token, command, bytes }) => {
  const started = performance.now()
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws/terminal?target=host`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  })
  let size = 0
  let code: number | null | undefined
  ws.once('open', () => ws.send(Buffer.from(`exec sh -c '${command}'\r`), { binary: true }))
  ws.on('message', (data: Buffer, binary: boolean) => {
    if (binary) size += data.length
    else ({ code } = Exit.parse(JSON.parse(data.toString())))
  })
  await new Promise((resolve, reject) => ws.once('close', resolve).once('error', reject))
  // The count includes the shell's greeting.
  if (code !== 0 || size < bytes) throw new Error(`${size} bytes of output, exit code ${code}`)
  return performance.now() - started
})
