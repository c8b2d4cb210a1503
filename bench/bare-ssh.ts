import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type ClientChannel } from 'ssh2'
import * as z from 'zod'
import { answer } from './child.ts'

const Account = { port: z.number(), username: z.string(), password: z.string() }
const Question = z.discriminatedUnion('what', [
  z.object({ what: z.literal('login'), ...Account }),
  z.object({ what: z.literal('echo'), ...Account, pausesMs: z.array(z.number()) }),
  z.object({ what: z.literal('run'), ...Account, command: z.string() }),
])

/** Times a login with one command, the round trips of lines over a channel, or one command alone, with bare ssh2. In milliseconds. */
answer(Question, async (question) => {
  const started = performance.now()
  const client = new Client()
  const ready = once(client, 'ready')
  client.connect({ host: '127.0.0.1', ...question })
  client.setNoDelay(true)
  await ready
  try {
    if (question.what === 'echo') return await echo(await exec(client, 'cat'), question.pausesMs)
    if (question.what === 'run') return await run(client, question.command)
    const channel = await exec(client, 'id')
    channel.resume()
    await once(channel, 'close')
    return performance.now() - started
  } finally {
    client.end()
  }
})

/** Runs a command on a connection that is there; returns its time and its stdout. Throws unless it ends with 0. */
async function run(client: Client, command: string): Promise<{ ms: number; stdout: string }> {
  const started = performance.now()
  const channel = await exec(client, command)
  const closed = once(channel, 'close')
  channel.stderr.resume()
  const stdout = await text(channel)
  const [code] = await closed
  const ms = performance.now() - started
  if (code !== 0) throw new Error(`the command ended with ${code}`)
  return { ms, stdout }
}

async function echo(channel: ClientChannel, pausesMs: readonly number[]): Promise<number[]> {
  const times: number[] = []
  for (const pauseMs of pausesMs) {
    await pause(pauseMs)
    const back = once(channel, 'data')
    const sent = performance.now()
    channel.write(`${Date.now()}000000\n`)
    await back
    times.push(performance.now() - sent)
  }
  return times
}

function exec(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
}
