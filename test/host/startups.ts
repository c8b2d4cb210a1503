import { readdirSync, readFileSync } from 'node:fs'
import { SSH_HOST } from './rig.ts'

const PORT = Number(SSH_HOST.split(':').at(-1))
/** The process title of sshd, with its count of connections that have not signed in yet. */
const TITLE = /\[listener\] (\d+) of (\d+-\d+) startups/

export interface Startups {
  /** Returns sshd's count of connections that have not signed in. */
  now(): number
  /** Its MaxStartups: the counts from which it drops some connections, and all. */
  limits: string
  /** Samples the count every few milliseconds; the returned function stops that and returns the sorted counts. */
  watch(): () => number[]
}

/** Reads the count that the rig's sshd compares with its MaxStartups. */
export function startups(): Startups {
  const file = `/proc/${listener()}/cmdline`
  const read = () => {
    const text = readFileSync(file, 'utf8')
    const [, count = '', limits = ''] = TITLE.exec(text) ?? []
    if (limits === '') throw new Error(`the title of sshd has no count of startups: ${text}`)
    return { count: Number(count), limits }
  }
  return {
    now: () => read().count,
    limits: read().limits,
    watch() {
      const counts: number[] = []
      const timer = setInterval(() => counts.push(read().count), 4)
      return () => {
        clearInterval(timer)
        return counts.sort((a, b) => a - b)
      }
    },
  }
}

/** Returns the pid of the rig's listening sshd. */
function listener(): string {
  const found = readdirSync('/proc').find(
    (entry) => /^\d+$/.test(entry) && title(entry).includes(`-p ${PORT} [listener]`),
  )
  if (!found) throw new Error('the rig has no listening sshd')
  return found
}

function title(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // The process has ended.
  }
}
