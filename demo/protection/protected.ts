import { archiveName } from '../../functions/protection/archive.ts'
import { isCancelled } from '../jobs.ts'
import { fail, type Process, type Program } from '../process.ts'
import type { Shell } from '../sh.ts'
import { twice, worseThan } from './comparison.ts'
import { lackOfRoom } from './pools.ts'
import { createSteps, lastLine, now, Refused, type Steps, type Words } from './steps.ts'

/** The exit code of a task whose protection is impossible. */
const REFUSED = 69
const MISUSED = 64
const NO_NOTES = 74
/** The exit code of a program that SIGTERM ended. */
const TERMINATED = 143
/** The longest pause after an upgrade, in lines of its output: four seconds. */
const SETTLES_LINES = 20
/** The pause between two looks at what has become worse, likewise. */
const AGAIN_LINES = 5

/** Imitates `PROTECTED`: an upgrade with a snapshot before it, a return to that snapshot, and its removal. */
export function createProtected(shell: Shell): Program {
  return async (args, process) => {
    const words = wordsOf(args)
    if (!words) return fail(process, 'not a protected run\n', MISUSED)
    if (!process.note) return NO_NOTES
    const steps = createSteps(shell, process, words)
    try {
      if (words.task === 'forget') return await forget(steps, words)
      if (words.task === 'rollback') return await rollback(steps, words, process)
      return await upgrade(steps, words, process, shell)
    } catch (error) {
      if (error instanceof Refused) {
        steps.note({ refused: error.why, reason: error.message })
        await steps.report(error.message)
        return REFUSED
      }
      if (!isCancelled(process.signal)) throw error
      return finish(steps, 'cancelled', TERMINATED)
    }
  }
}

/** Reads the arguments; undefined when they are none of `PROTECTED`. */
function wordsOf([task = '', given = '', id = '', name = '', ...rest]: readonly string[]): Words | undefined {
  // The sudo rules of the imitated host allow all of pct, so nobody needs the hypervisor's API.
  const access = given === 'api' ? 'rule' : given
  if (!['upgrade', 'application', 'rollback', 'forget'].includes(task) || (access !== 'root' && access !== 'rule'))
    return undefined
  const [policy, behind] = counted(rest)
  const [probes, command] = counted(behind)
  return { task, access, id, name, policy, probes, command }
}

/** Splits off a list with its length before it. */
function counted([count, ...words]: readonly string[]): [list: string[], rest: string[]] {
  return [words.slice(0, Number(count)), words.slice(Number(count))]
}

function finish({ note }: Steps, outcome: string, code: number): number {
  note({ outcome, at: now() })
  return code
}

async function forget({ note, phase, forget: remove, step }: Steps, { name, policy }: Words): Promise<number> {
  const [kind, location = ''] = policy
  phase('pruning')
  if (kind === 'backup') {
    const { code, text } = await step(removing(location))
    if (code !== 0) throw new Refused('failed', lastLine(text))
  } else {
    const reason = await remove(name)
    if (reason !== undefined && !reason.includes('does not exist')) {
      note({ kept: [[name, reason]] })
      throw new Refused('failed', reason)
    }
  }
  note({ pruned: [name] })
  phase('done')
  return 0
}

/** The command that removes an archive. */
function removing(location: string): [string, ...string[]] {
  return location.startsWith('/') ? ['rm', '-f', '--', location] : ['/usr/sbin/pvesm', 'free', location]
}

/** Removes archives, and notes which. */
async function pruneBackups({ note, phase, step }: Steps, locations: readonly string[]): Promise<void> {
  if (locations.length === 0) return
  phase('pruning')
  const pruned: string[] = []
  const kept: [string, string][] = []
  for (const location of locations) {
    const { code, text } = await step(removing(location))
    if (code === 0) pruned.push(archiveName(location))
    else kept.push([archiveName(location), lastLine(text)])
  }
  note({ pruned, kept })
}

async function rollback(steps: Steps, { id, name, policy }: Words, { machine }: Process): Promise<number> {
  const { phase, report, pct, goBack } = steps
  const place = machine.containers.find((each) => each.id === id)
  const [kind, location = ''] = policy
  if (kind !== 'backup' && !place?.snapshots?.some((each) => each.name === name))
    throw new Refused('missing', `the snapshot ${name} is not there, or not whole`)
  const lock = place?.lockedFor
  if (lock !== undefined) {
    if (!/^(snapshot|snapshot-delete|rollback)$/.test(lock))
      throw new Refused('locked', `the container is locked (${lock})`)
    await report(`the lock (${lock}) is left from a step that has ended; it is removed`)
    await pct('unlock')
  }
  const isDone = kind === 'backup' ? await restore(steps, location, place?.running === true) : await goBack()
  if (isDone) phase('done')
  return finish(steps, isDone ? 'rolled_back' : 'rollback_failed', isDone ? 0 : 1)
}

async function restore({ note, phase, pct, quiet, isBack }: Steps, location: string, runs: boolean): Promise<boolean> {
  phase('rolling_back')
  const began = performance.now()
  const [, storage = ''] = /^rootfs: ([^:]+):/m.exec((await quiet('config')).text) ?? []
  const actions: [string, ...string[]][] = [
    ...(runs ? [['stop'] as [string]] : []),
    ['restore', location, '--storage', storage, '--force', '1'],
    ['start'],
  ]
  for (const [verb, ...words] of actions) {
    const { code, text } = await pct(verb, ...words)
    if (code === 0) continue
    note({ rollback: 'failed', reason: lastLine(text) })
    return false
  }
  return isBack(began)
}

async function upgrade(steps: Steps, words: Words, process: Process, { exitOf }: Shell): Promise<number> {
  const { note, phase, look, forget: remove, prune, goBack, nap } = steps
  const { task, id, name, policy, command } = words
  const [before, , keep, onFailure, settle, _asks, ...former] = policy
  phase('protecting')
  const archive = before === 'backup' ? await backUp(steps, words) : undefined
  const made = archive === undefined ? await snapshot(steps, words, process) : 'backup'
  process.signal.throwIfAborted()
  phase('measuring')
  const healthy = await look('before')
  phase('upgrading')
  const code = await exitOf(command, process)
  note({ upgraded: code })
  // An application may change without any package.
  const was = task === 'application' ? undefined : packages(healthy)
  if (was !== undefined && was === packages(await look('upgraded'))) {
    // Nothing has changed, so there is nothing to go back from.
    if (archive !== undefined) await pruneBackups(steps, [archive])
    if (made === 'snapshot') {
      phase('pruning')
      const reason = await remove(name)
      note(reason === undefined ? { pruned: [name], kept: [] } : { pruned: [], kept: [[name, reason]] })
    }
    phase('done')
    return finish(steps, code === 0 ? 'nothing_to_do' : 'failed', code)
  }
  phase('settling')
  await nap(SETTLES_LINES, Number(settle))
  phase('comparing')
  const found = healthy && (await compare(steps, id, healthy, Number(settle)))
  note({ compared: found ? found.worse : null, unsteady: found?.unsteady ?? [] })
  let outcome = code !== 0 ? 'failed' : found && found.worse.length > 0 ? 'regressed' : 'upgraded'
  if (outcome !== 'upgraded' && onFailure === 'rollback' && made === 'snapshot')
    outcome = (await goBack(healthy)) ? 'rolled_back' : 'rollback_failed'
  if (made === 'snapshot' && outcome !== 'rollback_failed' && !process.signal.aborted) {
    phase('pruning')
    await prune(Number(keep))
  }
  if (archive !== undefined && outcome === 'upgraded') await pruneBackups(steps, former)
  phase('done')
  return finish(steps, outcome, code)
}

/** Makes the snapshot; undefined where the container's storage cannot and the policy lets it be. */
async function snapshot(
  { note, report, pct }: Steps,
  { id, name, policy }: Words,
  { machine }: Process,
): Promise<'snapshot' | undefined> {
  const place = machine.containers.find((each) => each.id === id)
  const lack = place ? lackOfRoom(place, machine) : ''
  if (lack !== '') throw new Refused('full', `no room for a snapshot: ${lack}`)
  const { code, text } = await pct('snapshot', name, '--description', 'ops-panel: before an upgrade')
  if (code === 0) {
    note({ snapshot: name, kind: 'snapshot', at: now() })
    return 'snapshot'
  }
  const reason = lastLine(text) || `exit code ${code}`
  if (policy[0] !== 'auto' || !text.includes('snapshot feature is not available'))
    throw new Refused(reason.includes('is locked') ? 'locked' : 'failed', reason)
  note({ unprotected: reason })
  await report(`no snapshot: ${reason}`)
  return undefined
}

/** Makes the backup, and returns its location. */
async function backUp({ note, step, quiet }: Steps, { id, name, policy }: Words): Promise<string> {
  const [, storage = '-'] = policy
  const where = storage === '-' ? [] : ['--storage', storage]
  const how = ['--mode', 'snapshot', '--compress', 'zstd', '--stdexcludes', '0', '--prune-backups', 'keep-all=1']
  const notes = where.length > 0 ? ['--notes-template', `ops-panel: before an upgrade (${name})`] : []
  const [, root = null] = /^rootfs: ([^:]+):/m.exec((await quiet('config')).text) ?? []
  const { code, text } = await step(['/usr/bin/vzdump', id, ...how, ...where, ...notes])
  const [, file = ''] = /creating vzdump archive '([^']+)'/.exec(text) ?? []
  if (code !== 0 || file === '') throw new Refused('failed', /^ERROR: (.+)$/m.exec(text)?.[1] ?? lastLine(text))
  const location = storage === '-' ? file : `${storage}:backup/${file.replace(/.*\//, '')}`
  note({ archive: location, file, root, unprivileged: 1, volumes: ['rootfs'], at: now() })
  note({ snapshot: archiveName(location), kind: 'backup', location, at: now() })
  return location
}

async function compare(
  { look, nap }: Steps,
  id: string,
  healthy: NonNullable<Awaited<ReturnType<Steps['look']>>>,
  settle: number,
) {
  const first = worseThan(id, healthy, await look('after'))
  if (first.length === 0) return { worse: [], unsteady: [] }
  await nap(AGAIN_LINES, settle)
  return twice(first, worseThan(id, healthy, await look('again')))
}

function packages(items: Awaited<ReturnType<Steps['look']>>): string | undefined {
  return items?.find(([kind]) => kind === 'packages')?.[3]
}
