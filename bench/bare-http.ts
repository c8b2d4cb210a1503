import { createServer } from 'node:http'
import * as z from 'zod'
import { answer } from './child.ts'

const Question = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
  isPrepared: z.boolean().default(false),
})

/**
 * Serves the same answer to every request with bare node:http, and reports its address. It writes the text of the answer
 * for each request unless that is prepared.
 */
answer(Question, async ({ headers, body, isPrepared }) => {
  const prepared = isPrepared ? JSON.stringify(body) : undefined
  const server = createServer((_, response) => {
    const text = prepared ?? JSON.stringify(body)
    response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { url: typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '' }
})
