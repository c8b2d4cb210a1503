import { type HeapProfiler, Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import { ownerOf, type Watched } from './places.ts'

/** The module that holds most of the memory. */
export interface Holder {
  module: Watched
  mebibytes: number
}

export interface MemoryWatch {
  /** Returns the module that has to leave, once the memory is nearly used up and one module holds most of it. */
  look(): Holder | undefined
  stop(): void
}

/** Bytes between two samples on average: too few to cost time, enough for a leak of hundreds of MiB. */
const INTERVAL = 512 * 1024
/** The share of the heap's limit from which its content is counted. */
const FULL = 0.7
/** Growth of the heap, as a share of its limit, before its content is counted again. */
const AGAIN = 0.05

/** Samples what is allocated, so that a leak has a name before the process runs out of memory. */
export function watchMemory(modules: readonly Watched[], heap = getHeapStatistics): MemoryWatch {
  const session = new Session()
  session.connect()
  session.post('HeapProfiler.startSampling', { samplingInterval: INTERVAL })
  let counted = 0
  const share = () => {
    const { used_heap_size, heap_size_limit } = heap()
    return used_heap_size / heap_size_limit
  }
  return {
    look() {
      if (share() < Math.max(FULL, counted + AGAIN)) return undefined
      // Without what nobody holds any more. This stops the service for a moment, so it is done once in a while.
      session.post('HeapProfiler.collectGarbage')
      counted = share()
      if (counted < FULL) {
        counted = 0
        return undefined
      }
      let profile: HeapProfiler.SamplingHeapProfile | undefined
      session.post('HeapProfiler.getSamplingProfile', (_, found) => {
        profile = found?.profile
      })
      return profile && mostOf(profile.head, modules, heap().used_heap_size)
    },
    stop: () => session.disconnect(),
  }
}

/** Returns the module whose code has allocated more than half of what is used. */
export function mostOf(
  head: HeapProfiler.SamplingHeapProfileNode,
  modules: readonly Watched[],
  used: number,
): Holder | undefined {
  const held = new Map<Watched, number>()
  const open: [HeapProfiler.SamplingHeapProfileNode, Watched | undefined][] = [[head, undefined]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, above] = next
    const owner = ownerOf(node.callFrame.url, modules) ?? above
    if (owner) held.set(owner, (held.get(owner) ?? 0) + node.selfSize)
    for (const child of node.children) open.push([child, owner])
  }
  for (const [module, bytes] of held)
    if (bytes > used / 2) return { module, mebibytes: Math.round(bytes / 1024 / 1024) }
  return undefined
}
