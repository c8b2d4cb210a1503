import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'

/** How much may gather. A minor collection takes a millisecond, a small part of what it takes to store or send so much. */
const MOST = 4 * 1024 * 1024
/** What outlives minor ones by chance gathers too; a full one takes ten times as long, and is made when it is so much. */
const MOST_OLD = 24 * 1024 * 1024

const Collect = z.custom<(options: { type: 'minor' | 'major' }) => void>((value) => typeof value === 'function')

const collect = (() => {
  setFlagsFromString('--expose-gc')
  return Collect.parse(runInNewContext('gc'))
})()

let gathered = 0
/** How much buffers held after the last full collection; undefined until that can be told. */
let floor: number | undefined

/**
 * Told how many bytes have been used once and are forgotten now, and has their memory freed now and then. Buffers lie
 * outside of V8's heap, so that a stream of them hardly fills it: left alone, it lets some 60 MB of dead ones gather before
 * it looks.
 */
export function litter(bytes: number): void {
  gathered += bytes
  if (gathered < MOST) return
  gathered = 0
  const { arrayBuffers } = process.memoryUsage()
  floor = Math.min(floor ?? arrayBuffers, arrayBuffers)
  const full = arrayBuffers > floor + MOST_OLD
  collect({ type: full ? 'major' : 'minor' })
  // Another thread sweeps: what is left is seen the next time.
  if (full) floor = undefined
}
