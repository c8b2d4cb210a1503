import { computed, effect, signal, untracked } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { isHostAway } from '../nouns/failure.ts'
import { api, askRights, isAdmin, me, onSignOut } from './panel.ts'

export type Host = Answer<'GET /api/hypervisor/host'>

/** The last answer of the host. */
export const host = signal<Host>()
/** The time of that answer, in ms since 1970. */
export const hostAt = signal<number>()
/** The error of the last request. */
export const hostError = signal<unknown>()
/** Whether nothing can start on the host, because the service cannot reach it. */
export const hostAway = computed(() => isHostAway(hostError.value))
/** The name of the host, also while it does not answer. */
export const hostname = signal<string>()

export async function readHost(signal?: AbortSignal): Promise<Host> {
  try {
    const found = await api('GET /api/hypervisor/host', { signal })
    host.value = found
    hostAt.value = Date.now()
    hostname.value = found.hostname
    hostError.value = undefined
    return found
  } catch (error) {
    if (!signal?.aborted) hostError.value = error
    throw error
  }
}

/** A host that is away cannot confirm rights: administrators lose theirs, and get them back once it answers. */
const RETRY_MS = 5_000
export const unconfirmed = computed(() => hostAway.value && me.value !== undefined && !isAdmin.value)
let timer: ReturnType<typeof setInterval> | undefined
effect(() => {
  clearInterval(timer)
  if (unconfirmed.value) timer = setInterval(() => void askAgain(), RETRY_MS)
})
let wasAdmin = false
effect(() => {
  // Finds out whether the host is away.
  if (wasAdmin && !isAdmin.value) untracked(() => void askAgain())
  wasAdmin = isAdmin.value
})
let wasUnconfirmed = false
effect(() => {
  const isBack = wasUnconfirmed && hostError.value === undefined && me.peek() !== undefined
  wasUnconfirmed = unconfirmed.value
  if (isBack) untracked(() => void askRights().catch(() => {}))
})

async function askAgain(): Promise<void> {
  if (me.peek() && !document.hidden) await readHost().catch(() => {})
}

onSignOut(() => {
  host.value = undefined
  hostAt.value = undefined
  hostError.value = undefined
  hostname.value = undefined
})
