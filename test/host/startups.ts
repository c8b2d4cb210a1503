import { readdirSync, readFileSync } from 'node:fs'
import { SSH_HOST } from './rig.ts'

const PORT = Number(SSH_HOST.split(':').at(-1))
/** sshd's own count of connections that have not signed in yet, as its title tells it. */
const TITLE = /\[listener\] (\d+) of (\d+-\d+) startups/

export interface Startups {
  /** How many connections to sshd have not signed in, by its own count. */
  now(): number
  /** From how many on it drops some, and from how many on all: its MaxStartups. */
  limits: string
  /** Looks every few milliseconds from now on; what it returns ends that, and gives the counts, the lowest first. */
  watch(): () => number[]
}

/** What the rig's sshd counts for its MaxStartups. */
export function startups(): Startups {
  const file = `/proc/${listener()}/cmdline`
  const read = () => {
    const text = readFileSync(file, 'utf8')
    const [, count = '', limits = ''] = TITLE.exec(text) ?? []
    if (limits === '') throw new Error(`sshd does not tell how many have not signed in: ${text}`)
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

/** The process of the rig's sshd that listens. */
function listener(): string {
  const found = readdirSync('/proc').find(
    (entry) => /^\d+$/.test(entry) && title(entry).includes(`-p ${PORT} [listener]`),
  )
  if (!found) throw new Error('the rig has no sshd')
  return found
}

function title(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it has ended meanwhile
  }
}
