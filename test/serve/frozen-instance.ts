import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { Send } from './function-client.ts'
import { STARTING_FAST } from './program.ts'

const PROGRAM = fileURLToPath(new URL('function-process.ts', import.meta.url))

const Reply = z.object({
  number: z.number(),
  answered: z
    .object({
      status: z.number(),
      body: z.string(),
      headers: z.record(z.string(), z.string()),
      cookies: z.array(z.string()),
    })
    .optional(),
  error: z.string().optional(),
})

/** An instance that is frozen by SIGSTOP between requests, as function hosts do it. */
export function frozenInstance(env: Record<string, string>, way: 'fetch' | 'gateway'): Send {
  const child = fork(PROGRAM, { env: { ...STARTING_FAST, ...env }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  let number = 0
  return async (asked) => {
    number += 1
    const own = number
    child.kill('SIGCONT')
    child.send({ number: own, way, asked })
    const [message] = await once(child, 'message')
    const reply = Reply.parse(message)
    child.kill('SIGSTOP')
    if (reply.number !== own || !reply.answered) throw new Error(reply.error ?? 'an answer to something else')
    return reply.answered
  }
}
