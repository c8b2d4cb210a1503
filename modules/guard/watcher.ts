/*
 * Sees from a thread of its own when the main thread stands still. The debugger of Node can stop the main thread in the
 * middle of an endless loop and show its stack, which names the culprit. It cannot during a system call.
 */

import { Worker } from 'node:worker_threads'
import type { Note } from './notes.ts'
import type { Watched } from './places.ts'

/**
 * The cells that both threads share: beats of the main thread, the module that runs (its index + 1), whether a debugger is
 * attached, and whether the trial of a change is over.
 */
export const CELLS = { beats: 0, module: 1, debugged: 2, confirmed: 3 } as const

interface WatcherData {
  cells: SharedArrayBuffer
  modules: readonly Watched[]
  /** The file of the note. */
  file: string
  /** The deployment that this process tries, empty without one. */
  trial: string
  /** Whether somebody starts the process again, so that it may be ended without a culprit. */
  isRestarted: boolean
  tickMs: number
  /** Ticks without a beat until the stack is read, and until the process is ended. */
  askAfter: number
  endAfter: number
  /** Growth in bytes of a process that stands still, and its size, from which both together have the stack read at once. */
  growth: number
  full: number
}

/** The thread that watches; `stop` ends it. */
export interface Watcher {
  stop(): Promise<void>
}

/** Starts the watch. The service works without it too. */
export function startWatcher(data: WatcherData): Watcher {
  const code = `(${watchMainThread.toString()})(require, require('node:worker_threads').workerData)`
  const worker = new Worker(code, { eval: true, workerData: data })
  worker.on('error', () => {})
  worker.unref()
  return {
    async stop() {
      await worker.terminate()
    },
  }
}

/**
 * Runs in the thread: it is passed as text, so it uses nothing from this file. It counts its own ticks, not time: both
 * threads stand still while the machine sleeps.
 */
function watchMainThread(load: typeof process.getBuiltinModule, data: WatcherData): void {
  const { Session } = load('node:inspector')
  const fs = load('node:fs')
  const cells = new Int32Array(data.cells)
  let [beats, still, rss, done] = [-1, 0, 0, false]
  let isFull = false
  let session: InstanceType<typeof Session> | undefined
  /** The stack of the service's own code that was seen last. */
  let own: string | undefined

  const end = (what: Note['what'], module: Watched | undefined, place: string) => {
    done = true
    if (!module && !data.isRestarted) return
    const trial = Atomics.load(cells, 3) === 1 ? '' : data.trial
    const note: Note = { what, module: module?.id ?? null, release: module?.release ?? null, place, message: '', trial }
    const fresh = `${data.file}.${process.pid}`
    try {
      fs.rmSync(fresh, { force: true })
      const handle = fs.openSync(fresh, 'wx', 0o600)
      fs.writeSync(handle, JSON.stringify(note))
      fs.fsyncSync(handle)
      fs.closeSync(handle)
      fs.renameSync(fresh, data.file)
    } catch {
      // On a full disk the next start does not know the culprit.
    }
    process.kill(process.pid, 'SIGKILL')
    // The kernel spares the first process of a container from its own signals, but not from an abort of the main thread.
    if (process.pid === 1) session?.post('Runtime.evaluate', { expression: 'process.abort()' })
  }

  /** The module whose handler, schema or import the main thread is at. */
  const running = () => data.modules[Atomics.load(cells, 1) - 1]

  const attach = () => {
    if (session) return session
    const opened = new Session()
    session = opened
    opened.connectToMainThread()
    const scripts = new Map<string, string>()
    opened.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url))
    opened.on('Debugger.paused', ({ params }) => {
      if (session !== opened) return
      // An attached debugger is also paused before the heap is exhausted.
      const what = isFull || params.reason === 'OOM' ? 'memory' : 'loop'
      for (const { location } of params.callFrames) {
        const url = scripts.get(location.scriptId) ?? ''
        for (const module of data.modules) {
          const home = module.homes.find((each) => url.startsWith(each))
          if (home !== undefined)
            return end(what, module, `${url.slice(home.length).slice(0, 200)}:${location.lineNumber + 1}`)
        }
      }
      // Code of the service that works for a module, such as a slow pattern of its schema.
      const module = running()
      if (module) return end(what, module, '')
      const [top] = params.callFrames
      own = `${(top && scripts.get(top.location.scriptId)) || 'node'} ${top?.functionName ?? ''}`.slice(0, 300)
      opened.post('Debugger.resume')
    })
    opened.post('Debugger.enable')
    return opened
  }

  const leave = () => {
    session?.disconnect()
    session = undefined
    own = undefined
    done = false
  }

  setInterval(() => {
    const now = Atomics.load(cells, 0)
    if (now !== beats || Atomics.load(cells, 2) === 1) {
      beats = now
      still = 0
      rss = process.memoryUsage.rss()
      return leave()
    }
    still += 1
    if (done) return
    const size = still > 1 ? process.memoryUsage.rss() : 0
    const isGrowing = size - rss > data.growth
    isFull = isGrowing && size > data.full
    if (isFull || still >= data.askAfter) attach().post('Debugger.pause')
    else if (isGrowing) attach()
    if (still < data.endAfter) return
    if (own !== undefined) return end('hang', undefined, own)
    end('blocked', running(), '')
  }, data.tickMs)
}
