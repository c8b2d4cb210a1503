import { createServer, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import * as z from 'zod'
import { answer } from './child.ts'

const Question = z.discriminatedUnion('what', [
  z.object({ what: z.literal('port') }),
  z.object({ what: z.literal('send'), message: z.string(), times: z.number(), connections: z.number() }),
])

const open = new Set<Socket>()
const server = createServer((socket) => {
  socket.setNoDelay(true)
  open.add(socket)
  socket.on('close', () => open.delete(socket))
  socket.on('error', () => {})
})
await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, resolve))

/** Writes each message to each connection once enough are open. Reports its port, then the time of the first write. */
answer(Question, async (question) => {
  if (question.what === 'port') {
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  }
  // A client is connected before the server knows it, and connections of the previous round may still be closing.
  while (open.size !== question.connections) await pause(5)
  const began = performance.timeOrigin + performance.now()
  const message = Buffer.from(question.message)
  for (let n = 0; n < question.times; n++) {
    for (const socket of open) socket.write(message)
    await turn()
  }
  return began
})
