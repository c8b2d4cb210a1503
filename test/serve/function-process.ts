import * as z from 'zod'
import entry, { handler } from '../../serve/fetch.ts'
import { ways } from './function-client.ts'

const Asked = z.object({
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  cookie: z.string().optional(),
  body: z.string().optional(),
})
const Message = z.object({ number: z.number(), way: z.enum(['fetch', 'gateway']), asked: Asked })

/** Runs the entry point in a separate process that answers messages. */
process.on('message', (message) => {
  const { number, way, asked } = Message.parse(message)
  const send = ways[way]({ fetch: entry.fetch, handler })
  const { cookie, body, ...rest } = asked
  send({ ...rest, cookie, body }).then(
    (answered) => process.send?.({ number, answered }),
    (error: unknown) => process.send?.({ number, error: String(error) }),
  )
})
