import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { isHostAway } from '../nouns/failure.ts'
import { api, atSignOut } from './panel.ts'

export type Host = Answer<'GET /api/hypervisor/host'>

/** The host as it said itself last. */
export const host = signal<Host>()
/** Of the last question. */
export const hostError = signal<unknown>()
/** Whether nothing can be started there, because the service cannot reach it. */
export const hostAway = computed(() => isHostAway(hostError.value))
/** Its name, also while it does not answer. */
export const hostname = signal<string>()

export async function readHost(signal?: AbortSignal): Promise<Host> {
  try {
    const found = await api('GET /api/hypervisor/host', { signal })
    host.value = found
    hostname.value = found.hostname
    hostError.value = undefined
    return found
  } catch (error) {
    if (!signal?.aborted) hostError.value = error
    throw error
  }
}

atSignOut(() => {
  host.value = undefined
  hostError.value = undefined
  hostname.value = undefined
})
