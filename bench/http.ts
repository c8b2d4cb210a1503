import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import { startChild } from './child.ts'
import { startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 1, rounds: 7 }
/** Enough users to keep each far below the limit of 1,200 reads a minute. */
const USERS = 1_000
const CONNECTIONS = 32
const SECONDS = 2

/** Measures authenticated GET requests, without and with a query, against the same answer by bare node:http. */
export async function http(): Promise<Row[]> {
  const panel = await startPanel({ users: USERS })
  const bare = await startChild('./bare-http.ts')
  const tokenFile = join(tmpdir(), `ops-panel-bench-tokens-${process.pid}`)
  try {
    await writeFile(tokenFile, panel.tokens.join('\n'), { mode: 0o600 })
    const [token = ''] = panel.tokens
    const sample = await read(`${panel.url}/api/bench`, token)
    const { url: bareUrl } = await bare.ask(z.object({ url: z.string() }), sample)
    sameAnswer(sample, await read(`${bareUrl}/api/bench`, token))

    const load = (url: string) => () => requestsPerSecond(url, tokenFile)
    const rates = await measure(ROUNDS, {
      bare: load(`${bareUrl}/api/bench`),
      plain: load(`${panel.url}/api/bench`),
      query: load(`${panel.url}/api/auth/me`),
    })
    return [
      compare('GET without a query / bare node:http', { atLeast: 0.6 }, 'req/s', rates('plain'), rates('bare')),
      compare('GET with one query / bare node:http', { atLeast: 0.35 }, 'req/s', rates('query'), rates('bare')),
    ]
  } finally {
    await rm(tokenFile, { force: true })
    await bare.stop()
    await panel.stop()
  }
}

interface Answer {
  headers: Record<string, string>
  body: unknown
}

/** The headers that node:http adds by itself. */
const AUTOMATIC = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/** Reads an answer with its own headers and its size. */
export async function read(url: string, token: string): Promise<Answer & { size: string | null }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const own = [...response.headers].filter(([name]) => !AUTOMATIC.includes(name))
  return { headers: Object.fromEntries(own), body: await response.json(), size: response.headers.get('content-length') }
}

/** Throws unless both answers are the same. */
export function sameAnswer(ours: Answer & { size: string | null }, bare: Answer & { size: string | null }): void {
  if (JSON.stringify(ours) !== JSON.stringify(bare))
    throw new Error(`not the same answer: ${JSON.stringify([ours, bare])}`)
}

const run = promisify(execFile)

/** Loads an address for two seconds. Throws unless every answer was a success. */
export async function requestsPerSecond(url: string, tokenFile: string): Promise<number> {
  const script = fileURLToPath(new URL('./wrk.lua', import.meta.url))
  const { stdout } = await run('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '-s', script, url], {
    env: { ...process.env, BENCH_TOKENS: tokenFile },
  })
  const rate = /^Requests\/sec: +([\d.]+)$/m.exec(stdout)?.[1]
  if (rate === undefined || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk: ${stdout}`)
  return Number(rate)
}
