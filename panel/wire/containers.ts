import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { isHostAway } from '../nouns/failure.ts'
import { api, onSignOut } from './panel.ts'

export type Container = Answer<'GET /api/hypervisor/containers'>[number]

/** The usage of a container at one moment, as shares from 0 to 1; null when unknown. */
export interface Sample {
  at: number
  cpu: number | null
  mem: number | null
}

const POLL_MS = 5_000
/** 15 minutes. The service stores no samples, so these exist since the panel was opened. */
const MAX_SAMPLES = 180

/** All containers, ordered by number; undefined until they are known. */
export const containers = signal<readonly Container[]>()
/** The error of the last request; earlier results stay. */
export const containersError = signal<unknown>()
/** Whether no action is possible, because the service cannot reach the host. */
export const containersAway = computed(() => isHostAway(containersError.value))
export const containersAt = signal<number>()
/** By container number, since the panel was opened, oldest first. */
export const samples = signal<ReadonlyMap<number, readonly Sample[]>>(new Map())
/** For stopped containers: the time at which they were last seen running, in ms since 1970. */
export const stoppedSince = signal<ReadonlyMap<number, number>>(new Map())

let viewers = 0
let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined

/** Reads the containers now. Never rejects: see `containersError`. */
export function readContainers(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

/** Polls the containers while a component is mounted and the page is visible. */
export function useContainers(): void {
  useEffect(() => {
    viewers += 1
    if (viewers === 1) void poll()
    const shown = () => {
      if (!document.hidden) void readContainers()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      viewers -= 1
      if (viewers === 0) clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [])
}

async function poll(): Promise<void> {
  clearTimeout(timer)
  if (!document.hidden) await readContainers()
  if (viewers > 0) timer = setTimeout(() => void poll(), POLL_MS)
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
      found.map((each) => [
        each.vmid,
        [...(samples.value.get(each.vmid) ?? []).slice(1 - MAX_SAMPLES), sampleOf(each, at)],
      ]),
    )
  } catch (error) {
    containersError.value = error
  }
}

function sampleOf({ cpu, mem, maxmem }: Container, at: number): Sample {
  return { at, cpu, mem: mem === null || !maxmem ? null : mem / maxmem }
}

/** Records containers that ran before and are now stopped. */
function noteStops(found: readonly Container[], at: number): void {
  const before = new Map((containers.value ?? []).map(({ vmid, status }) => [vmid, status]))
  const next = new Map(stoppedSince.value)
  for (const { vmid, status } of found) {
    if (status === 'running') next.delete(vmid)
    else if (before.get(vmid) === 'running') next.set(vmid, at)
  }
  stoppedSince.value = next
}

onSignOut(() => {
  containers.value = undefined
  containersError.value = undefined
  containersAt.value = undefined
  samples.value = new Map()
  stoppedSince.value = new Map()
})
