import { setMaxListeners } from 'node:events'
import { HEALTH } from '../../functions/protection/health-script.ts'
import { isCancelled } from '../jobs.ts'
import { type Process, pause } from '../process.ts'
import type { Heard, Shell } from '../sh.ts'
import { type Item, itemsOf, linesOf, worse } from './comparison.ts'

/** The words of `PROTECTED` before its command. */
export interface Words {
  task: string
  access: string
  /** The container. */
  id: string
  /** The snapshot. */
  name: string
  policy: readonly string[]
  /** The words of a look. */
  probes: readonly string[]
  command: readonly string[]
}

/** The longest wait for the service's own probes. */
const ANSWER_MS = 40_000
const OWN_NAME = /^panel-\d{9,11}-[a-z0-9]{8}$/

/** Ends a task whose protection is impossible. */
export class Refused extends Error {
  readonly why: string

  constructor(why: string, reason: string) {
    super(reason)
    this.why = why
  }
}

export type Steps = ReturnType<typeof createSteps>

/** The steps of a protected run, with the notes and the output that they write. */
export function createSteps({ heard }: Shell, process: Process, { access, id, name, policy, probes }: Words) {
  const { signal } = process

  const note = (about: Readonly<Record<string, unknown>>) => process.note?.(JSON.stringify(about))
  const phase = (to: string) => note({ phase: to, at: now() })
  /** Nothing can be printed any more when the run is cancelled. */
  const print = async (text: string) => {
    if (!signal.aborted) await process.stdout(text)
  }
  const report = (text: string) => print(`ops-panel: ${text}\n`)
  const prefix = access === 'rule' ? ['sudo', '-n'] : []

  /** A step of the hypervisor goes to its end, also when the run is cancelled meanwhile. */
  const step = async (words: readonly string[]): Promise<Heard> => {
    const found = await heard([...prefix, ...words], { ...process, signal: STEADY })
    await print(found.text)
    return found
  }
  const pct = (verb: string, ...words: readonly string[]) => step([TOOL, verb, id, ...words])
  const quiet = (verb: string, ...words: readonly string[]) =>
    heard([...prefix, TOOL, verb, id, ...words], { ...process, signal: STEADY })

  const answers = async (which: string): Promise<Item[]> => {
    note({ ask: which })
    return linesOf((await process.asked?.(which, ANSWER_MS)) ?? [])
  }

  /** Looks at the container; undefined when it does not answer. */
  const look = async (which: string): Promise<Item[] | undefined> => {
    const words = [TOOL, 'exec', id, '--', 'sh', '-c', HEALTH, 'ops-panel-health', ...probes]
    const { code, text } = await heard([...prefix, ...words], process)
    const items = code === 0 ? itemsOf(text) : undefined
    if (!items) {
      note({ health: which, at: now(), missing: lastLine(text) || `exit code ${code}` })
      return undefined
    }
    if (policy[5] === '1') items.push(...(await answers(which)))
    note({ health: which, at: now(), items: items.filter(([kind]) => kind !== 'packages') })
    return items
  }

  /** Removes a snapshot; returns why it cannot be removed. */
  const forget = async (which: string): Promise<string | undefined> => {
    const { code, text } = await pct('delsnapshot', which)
    return code === 0 ? undefined : lastLine(text)
  }

  /** Removes the oldest snapshots of the panel, so that so many stay. */
  const prune = async (keep: number) => {
    const { text } = await quiet('listsnapshot')
    const listed = [...text.matchAll(/^ *`-> +(\S+)/gm)].flatMap(([, found = '']) =>
      OWN_NAME.test(found) ? [found] : [],
    )
    const oldest = listed.sort().slice(0, Math.max(0, listed.length - keep))
    const pruned: string[] = []
    const kept: [string, string][] = []
    for (const one of oldest) {
      const reason = await forget(one)
      if (reason === undefined) pruned.push(one)
      else kept.push([one, reason])
      if (reason !== undefined) break
    }
    if (oldest.length > 0) note({ pruned, kept })
  }

  /** Waits until a container that runs again does what it did before, but not for ever. */
  const isBack = async (began: number, before?: readonly Item[]): Promise<boolean> => {
    const found = await look('rolled_back').catch((error: unknown) => {
      if (!isCancelled(signal)) throw error
      return undefined
    })
    if (isCancelled(signal)) {
      note({ rollback: 'done', at: now() })
      return true
    }
    if (!found) {
      note({ rollback: 'failed', reason: 'the container does not answer after its rollback' })
      return false
    }
    const outage = Math.round((performance.now() - began) / 1000)
    note({ rollback: 'done', outage, at: now(), left: before ? worse(before, found) : [] })
    return true
  }

  /** Goes back to the snapshot and starts the container. */
  const goBack = async (before?: readonly Item[]): Promise<boolean> => {
    phase('rolling_back')
    const began = performance.now()
    await report(`rolling back to ${name}`)
    const { code, text } = await pct('rollback', name, '--start', '1')
    if (code === 0) return isBack(began, before)
    note({ rollback: 'failed', reason: lastLine(text) || `exit code ${code}` })
    return false
  }

  const nap = (lines: number, seconds: number) =>
    pause(Math.min(seconds * 1000, lines * process.machine.lineMs), signal)

  return { note, phase, report, step, pct, quiet, look, forget, prune, isBack, goBack, nap }
}

const TOOL = '/usr/sbin/pct'
/** Never aborted. */
const STEADY = new AbortController().signal
setMaxListeners(0, STEADY)

/** The time in seconds. */
export function now(): number {
  return Math.floor(Date.now() / 1000)
}

export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
