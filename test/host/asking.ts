import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { type Answer, ask, type Caller, login, refresh } from './client.ts'
import { PASSWORDS } from './rig.ts'

/** One request, on the clock of `performance.now`. */
export interface Asked extends Answer {
  from: number
  to: number
}

/** Typical requests of a panel: some only read, some write, and the last needs no database. */
const QUESTIONS = {
  health: ({ service }: Caller) => ask(service, 'GET', '/api/health'),
  me: (bob: Caller) => bob.get('/api/auth/me'),
  history: (bob: Caller) => bob.get('/api/updates/history?output=none'),
  login: ({ service }: Caller) => login(service, 'bob', PASSWORDS.bob),
  refresh: ({ service, cookie }: Caller) => refresh(service, cookie),
  // A new value each time: the service does not store an unchanged one.
  layout: (bob: Caller) => bob.put('/api/dashboard/layout', { at: performance.now() }),
  nowhere: ({ service }: Caller) => ask(service, 'GET', '/api/nowhere'),
} as const

export type Question = keyof typeof QUESTIONS

export interface Asking {
  asked(question: Question): readonly Asked[]
  /** Returns the duration of the slowest answer in ms, of one question or of all. */
  slowest(question?: Question): number
  /** Returns how often every question has been answered. */
  rounds(): number
  /** Returns the output of the job that polling has returned so far. */
  polled(): string
  /** Settles after the last answer; rejects when an answer never came. */
  stop(): Promise<void>
}

const EVERY_MS = 300
const Piece = z.object({ chunk: z.string(), next_offset: z.number() })

/** Repeats every question independently, and polls the output of a job. */
export function keepAsking(bob: Caller, jobId: string): Asking {
  const answers = new Map<string, Asked[]>()
  const chunks: string[] = []
  let stopped = false
  const again = async (work: () => Promise<unknown>) => {
    while (!stopped) {
      await work()
      await pause(EVERY_MS)
    }
  }
  let at = 0
  const poll = async () => {
    const { status, body } = await bob.get(`/api/updates/jobs/${jobId}/output?offset=${at}`)
    if (status !== 200) return false
    const { chunk, next_offset } = Piece.parse(body)
    chunks.push(chunk)
    at = next_offset
    return chunk !== ''
  }
  const questions = Object.entries(QUESTIONS).map(([name, put]) => {
    const asked: Asked[] = []
    answers.set(name, asked)
    return again(async () => {
      const from = performance.now()
      asked.push({ ...(await put(bob)), from, to: performance.now() })
    })
  })
  const all = Promise.all([...questions, again(poll)])
  all.catch(() => {})
  return {
    asked: (name) => answers.get(name) ?? [],
    slowest: (name) =>
      Math.max(...(name ? (answers.get(name) ?? []) : [...answers.values()].flat()).map(({ ms }) => ms)),
    rounds: () => Math.min(...[...answers.values()].map(({ length }) => length)),
    polled: () => chunks.join(''),
    async stop() {
      stopped = true
      await all
      // An answer has at most 1 MiB; after an outage there may be more.
      while (await poll());
    },
  }
}
