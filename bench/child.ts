import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

const Reply = z.union([z.object({ result: z.unknown() }), z.object({ error: z.string() })])

/** A separate process that answers one question at a time. */
export interface Child {
  pid: number
  ask<answer>(answer: z.ZodType<answer>, question?: object): Promise<answer>
  stop(): Promise<void>
}

/** Longer than any round, even a job of a gigabyte on a slow machine; a process that takes longer hangs. */
const ANSWER_MS = 300_000
const END_MS = 2_000

/** Starts a file of this folder, which calls `answer`, and waits until it is ready. Its stdout is discarded. */
export async function startChild(
  file: string,
  { environment = {}, flags = [] }: { environment?: Record<string, string>; flags?: readonly string[] } = {},
): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    execArgv: [...flags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer)
        child.off('message', onMessage)
        child.off('exit', onExit)
      }
      const onMessage = (message: unknown) => {
        settle()
        resolve(message)
      }
      const fail = (reason: string) => {
        settle()
        reject(new Error(`${file}: ${reason}`))
      }
      const onExit = () => fail('ended unexpectedly')
      const timer = setTimeout(() => fail('no answer'), ANSWER_MS)
      child.on('message', onMessage)
      child.on('exit', onExit)
    })
  const result = (message: unknown) => {
    const reply = Reply.parse(message)
    if ('error' in reply) throw new Error(`${file}: ${reply.error}`)
    return reply.result
  }
  const stop = async () => {
    // A process that does not end with its channel hangs.
    const killer = setTimeout(() => child.kill('SIGKILL'), END_MS)
    if (child.connected) child.disconnect()
    await gone
    clearTimeout(killer)
  }
  try {
    result(await next())
  } catch (error) {
    await stop()
    throw error
  }
  return {
    pid: child.pid ?? 0,
    async ask(answer, question = {}) {
      const reply = next()
      child.send(question)
      return answer.parse(result(await reply))
    },
    stop,
  }
}

/** Answers the questions of the parent process; reports that it is ready, and ends with its parent. */
export function answer<question>(schema: z.ZodType<question>, reply: (question: question) => unknown): void {
  const send = (message: object) => void process.send?.(message)
  process.on('message', async (message) => {
    try {
      send({ result: (await reply(schema.parse(message))) ?? null })
    } catch (error) {
      send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
  send({ result: null })
}
