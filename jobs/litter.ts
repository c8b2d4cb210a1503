import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'

const MIB = 1024 * 1024
/** How much may gather. A minor collection takes a millisecond, a small part of what it takes to store so much. */
const MOST = 4 * MIB
/** What lived through a minor collection by chance gathers as well. A full one frees it, at ten times the price or more. */
const MOST_OLD = 24 * MIB

const Collect = z.custom<(options: { type: 'minor' | 'major' }) => void>((value) => typeof value === 'function')

/** Marked as a whole in some 30 ms; a larger heap is better marked bit by bit. */
const SMALL_HEAP = 64 * MIB
/** A flood without a word for so long is over. */
const OVER_MS = 1_000

let collect: z.infer<typeof Collect> | undefined
let over: NodeJS.Timeout | undefined
let gathered = 0
/** The least that buffers have held since the last full collection; undefined until it is looked at. */
let least: number | undefined

/**
 * Told how many bytes of buffers have been used once and are forgotten by now, and has their memory freed now and then.
 * They lie outside of V8's heap, so that a stream of them hardly fills it: left alone, it lets some 60 MB of dead ones gather
 * before it looks. The count is the process's, as the heap is.
 */
export function litter(bytes: number): void {
  gathered += bytes
  if (gathered < MOST) return
  gathered = 0
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = Collect.parse(runInNewContext('gc'))
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  if (heapUsed < SMALL_HEAP) flooded()
  least = Math.min(least ?? arrayBuffers, arrayBuffers)
  const full = arrayBuffers > least + MOST_OLD
  collect({ type: full ? 'major' : 'minor' })
  // Another thread sweeps: what is left is seen the next time.
  if (full) least = undefined
}

/**
 * Left alone, V8 answers such a stream by marking all of the heap, some ten times a second, for the little that this frees,
 * and every minor collection that comes in between becomes a full one. While it lasts, it is up to `litter`,
 * and to V8 only when memory is really short.
 */
function flooded(): void {
  if (over) {
    over.refresh()
    return
  }
  setFlagsFromString('--no-incremental-marking')
  over = setTimeout(() => {
    over = undefined
    setFlagsFromString('--incremental-marking')
  }, OVER_MS).unref()
}
