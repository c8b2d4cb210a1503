import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { isHostAway } from '../nouns/failure.ts'
import { api, atSignOut } from './panel.ts'

export type Container = Answer<'GET /api/hypervisor/containers'>[number]

/** What was used of a container at a moment: shares of what it may use, 0 to 1; null when unknown. */
export interface Sample {
  at: number
  cpu: number | null
  mem: number | null
}

const EVERY_MS = 5_000
/** A quarter of an hour: the service keeps none, so there are those that were seen since the panel was opened. */
const KEPT = 180

/** All of them, in the order of their numbers; undefined until they are known. */
export const containers = signal<readonly Container[]>()
/** Of the last question; what was known before it is kept. */
export const containersError = signal<unknown>()
/** Whether nothing can be done to them, because the service cannot reach what they run on. */
export const containersAway = computed(() => isHostAway(containersError.value))
export const containersAt = signal<number>()
/** Since the panel was opened, oldest first, by number. */
export const samples = signal<ReadonlyMap<number, readonly Sample[]>>(new Map())
/** When each was last seen to run, in ms since 1970, of those that are stopped now. */
export const stoppedSince = signal<ReadonlyMap<number, number>>(new Map())

let lookers = 0
let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined

/** Reads them now. Never rejects: see `containersError`. */
export function readContainers(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

/** Reads them again and again, as long as somebody looks. */
export function useContainers(): void {
  useEffect(() => {
    lookers += 1
    if (lookers === 1) void poll()
    const shown = () => {
      if (!document.hidden) void readContainers()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      lookers -= 1
      if (lookers === 0) clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [])
}

async function poll(): Promise<void> {
  clearTimeout(timer)
  if (!document.hidden) await readContainers()
  if (lookers > 0) timer = setTimeout(() => void poll(), EVERY_MS)
}

async function ask(): Promise<void> {
  try {
    const found = await api('GET /api/hypervisor/containers')
    const at = Date.now()
    noteStops(found, at)
    containers.value = found
    containersAt.value = at
    containersError.value = undefined
    samples.value = new Map(
      found.map((each) => [each.vmid, [...(samples.value.get(each.vmid) ?? []).slice(1 - KEPT), sampleOf(each, at)]]),
    )
  } catch (error) {
    containersError.value = error
  }
}

function sampleOf({ cpu, mem, maxmem }: Container, at: number): Sample {
  return { at, cpu, mem: mem === null || !maxmem ? null : mem / maxmem }
}

/** Those that ran when they were seen before. */
function noteStops(found: readonly Container[], at: number): void {
  const before = new Map((containers.value ?? []).map(({ vmid, status }) => [vmid, status]))
  const next = new Map(stoppedSince.value)
  for (const { vmid, status } of found) {
    if (status === 'running') next.delete(vmid)
    else if (before.get(vmid) === 'running') next.set(vmid, at)
  }
  stoppedSince.value = next
}

atSignOut(() => {
  containers.value = undefined
  containersError.value = undefined
  containersAt.value = undefined
  samples.value = new Map()
  stoppedSince.value = new Map()
})
