/*
 * Guards the service against the code of modules: finds the module that blocks the service, ends it or uses up its memory,
 * and takes this one out at the next start. Where nobody knows the culprit, starts leave out one module after another. The
 * service must not depend on it: whatever fails here leaves all modules in place.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { url as debuggerUrl } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import type { Database, Statement } from '../../db/libsql/database.ts'
import type { ModuleRow } from '../../db/modules.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { candidates, decide, type TakenOut, takeOutByNote } from './culprits.ts'
import { watchEndings } from './endings.ts'
import { watchMemory } from './memory.ts'
import { type End, endFile, NO_RUNS, Note, readRecord, removeRecord, Runs, runsFile, writeRecord } from './notes.ts'
import { type Watched, watched } from './places.ts'
import { CELLS, startWatcher } from './watcher.ts'

/** Runs the code of modules so that its work can be told apart from the service's own. */
export interface ModuleGuard {
  /** Watches these modules from now on; to be called before their code is loaded. */
  watch(modules: readonly ModuleRow[]): void
  /** Runs work of a module, also what it begins and leaves to timers, sockets and promises. */
  within<result>(id: string, work: () => result): result
  /** Loads the code of a module, which is at work until that has settled: nothing else runs at the same time. */
  loading<result>(id: string, load: () => Promise<result>): Promise<result>
}

export interface Guard extends ModuleGuard {
  /** Takes out what the last ends have shown; to be called before modules are loaded. */
  begin(start: Start): Promise<Begun>
  /** Ends the trial of a change: this process serves. */
  confirm(): void
  /** Ends the watch; to be called as soon as the service ends in an orderly way. */
  stop(): void
}

interface Start {
  /** The deployment that this start tries, which is rolled back when it fails. */
  trial: string | undefined
  /** Whether another process has seen that the service ended too soon too often. */
  endsTooOften: boolean
}

interface Begun {
  /** Whether no code of modules may be loaded, because each was left out once in vain. */
  withoutAll: boolean
  /** Whether this start leaves out other modules than the last one. */
  isDifferent: boolean
}

interface GuardServices {
  db: Database
  /** The folder of modules. */
  folder: string
  dataDir: string
  clock: Clock
  log: Log
  /** Identifies this boot of the machine: its end is no fault of a module. */
  machine: string
  /** Whether another process counts how often the service ends. */
  isCounted: boolean
  /** Whether something starts the service again when it ends. */
  isRestarted: boolean
  /** Makes the statement that tells administrators that a module was taken out. */
  tell(out: TakenOut): Statement
}

const BEAT_MS = 1_000
const TICK_MS = 500
/** A service that stands still this long is asked for its stack, and ended. */
const ASK_MS = 15_000
const END_MS = 20_000
/**
 * Growth of a process that stands still, as a share of the heap's limit, from which its stack is read at once, provided
 * that this share of the heap's limit, or of the memory that its container may use, is full.
 */
const GROWTH = 0.3
const FULL = { heap: 0.7, container: 0.85 }
/** An end within this time is an early one. */
const EARLY_MS = 60_000
const MOST_EARLY = 3
/** How long a module stays under suspicion: after early ends, and after the service was blocked. */
const SUSPECT_EARLY_MS = 2 * EARLY_MS
const SUSPECT_BLOCKED_MS = 3_600_000

/** Loads modules without a guard, such as in a test of a single function. */
export const unguarded: ModuleGuard = { watch: () => {}, within: (_, work) => work(), loading: (_, load) => load() }

export function createGuard(services: GuardServices): Guard {
  const { folder, dataDir, clock, log, machine, isCounted, isRestarted } = services
  const [notes, record] = [endFile(dataDir), runsFile(dataDir)]
  const running = new AsyncLocalStorage<string>()
  const cells = new SharedArrayBuffer(Object.keys(CELLS).length * Int32Array.BYTES_PER_ELEMENT)
  const seen = new Int32Array(cells)
  const closers: (() => void)[] = []
  let modules: readonly Watched[] = []
  let runs: Runs | undefined
  let trial = ''

  const save = (changed: Partial<Runs>) => {
    if (!runs) return
    runs = { ...runs, ...changed }
    attempt(() => writeRecord(record, runs ?? NO_RUNS))
  }
  const attempt = (write: () => void) => {
    try {
      write()
    } catch (error) {
      log.warn({ err: error }, 'the guard of the modules cannot write in the data directory')
    }
  }
  const noteEnd = (note: End) => attempt(() => writeRecord(notes, { ...note, trial }))

  /** Writes down which module is at work; returns what was written there before. */
  const enter = (id: string) => Atomics.exchange(seen, CELLS.module, modules.findIndex((each) => each.id === id) + 1)

  return {
    async begin(start) {
      trial = start.trial ?? ''
      const found = readRecord(notes, Note)
      const note = found?.trial === '' || found?.trial === trial ? found : undefined
      if (note) log.error(note, 'the service was ended, or ended by itself')
      const explained = note !== undefined && (await takeOutByNote(services, note))
      removeRecord(notes)
      // A change that fails is rolled back, which explains its ends.
      if (start.trial !== undefined) return { withoutAll: false, isDifferent: explained }
      const last = readRecord(record, Runs) ?? NO_RUNS
      const now = timestamp(clock())
      const early = last.open && last.machine === machine && note === undefined
      const quick = early ? last.quick + 1 : 0
      const suspects = now < last.until ? last.suspects : []
      const blocked = note !== undefined && note.module === null
      // A slow disk blocks the service as well, and once in a while.
      const again = blocked && (now < last.blocked || suspects.length > 0)
      const often = start.endsTooOften || (!isCounted && (quick >= MOST_EARLY || (early && suspects.length > 0)))
      const next = await decide(services, {
        explained,
        unknown: again || often,
        suspects,
        all: last.all && (early || often),
      })
      const inMs = (ms: number) => timestamp(new Date(clock().getTime() + ms))
      const until = next.isDifferent ? inMs(blocked ? SUSPECT_BLOCKED_MS : SUSPECT_EARLY_MS) : last.until
      runs = {
        machine,
        open: !isCounted,
        quick: next.isDifferent ? 0 : quick,
        suspects: next.suspects,
        until,
        all: next.all,
        blocked: blocked ? inMs(SUSPECT_BLOCKED_MS) : last.blocked,
      }
      if (last !== NO_RUNS || (await candidates(services.db)).length > 0) save({})
      const settling = setTimeout(() => save({ open: false, quick: 0, all: false }), EARLY_MS)
      settling.unref()
      closers.push(() => clearTimeout(settling))
      return { withoutAll: next.all, isDifferent: explained || next.isDifferent }
    },
    watch(rows) {
      if (rows.length === 0 || modules.length > 0) return
      modules = rows.map((row) => watched(folder, row))
      const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics()
      // Zero or a very large number without a limit.
      const allowed = process.constrainedMemory()
      const full = process.memoryUsage.rss() - used + limit * FULL.heap
      const watcher = startWatcher({
        cells,
        modules,
        file: notes,
        trial,
        isRestarted,
        tickMs: TICK_MS,
        askAfter: ASK_MS / TICK_MS,
        endAfter: END_MS / TICK_MS,
        growth: limit * GROWTH,
        full: allowed > 0 ? Math.min(full, allowed * FULL.container) : full,
      })
      const endings = watchEndings(modules, () => running.getStore(), noteEnd)
      const memory = watchMemory(modules)
      const beat = setInterval(() => {
        Atomics.add(seen, CELLS.beats, 1)
        Atomics.store(seen, CELLS.debugged, debuggerUrl() === undefined ? 0 : 1)
        const holder = memory.look()
        if (!holder) return
        const { module, mebibytes } = holder
        endings.stop()
        noteEnd({ what: 'memory', module: module.id, release: module.release, place: `${mebibytes} Mio`, message: '' })
        log.error({ module: module.id, mebibytes }, 'a module uses up the memory: the service ends')
        process.exit(1)
      }, BEAT_MS)
      beat.unref()
      closers.push(
        () => clearInterval(beat),
        () => memory.stop(),
        () => endings.stop(),
        () => void watcher.stop(),
      )
    },
    confirm() {
      trial = ''
      Atomics.store(seen, CELLS.confirmed, 1)
    },
    within(id, work) {
      const before = enter(id)
      try {
        return running.run(id, work)
      } finally {
        Atomics.store(seen, CELLS.module, before)
      }
    },
    async loading(id, load) {
      const before = enter(id)
      try {
        return await running.run(id, load)
      } finally {
        Atomics.store(seen, CELLS.module, before)
      }
    },
    stop() {
      for (const close of closers.splice(0)) close()
      save({ open: false, all: false })
    },
  }
}
