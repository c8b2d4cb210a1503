import { signal } from '@preact/signals'
import type { Deployment } from '../../client/index.ts'
import { onSignOut, panel } from './panel.ts'

/** A followed module deployment that includes a restart. */
export interface FollowedDeployment {
  id: string
  /** The last known state; undefined until the first one. */
  told?: Deployment
  /** The connection is down, as during the restart of the service. */
  isAway: boolean
  /** The reason why it cannot be followed. */
  error?: unknown
}

/** Survives a reload of the page: the service has no list of deployments. */
const STORAGE_KEY = 'ops-panel.deployment'

/** The last deployment of this window, until the user hides it. */
export const deployment = signal<FollowedDeployment>()

let going: AbortController | undefined

/** Follows a deployment to its end, across the restart of the service. Never rejects; resolves with the last known state. */
export async function followDeployment(id: string): Promise<Deployment | undefined> {
  going?.abort()
  going = new AbortController()
  const { signal } = going
  const update = (next: Partial<FollowedDeployment>) => {
    if (!signal.aborted && deployment.value) deployment.value = { ...deployment.value, ...next }
  }
  deployment.value = { id, isAway: false }
  keep(id)
  try {
    const onState = (state: string) => update({ isAway: state === 'waiting' || state === 'polling' })
    for await (const { data } of panel.follow(`deploy:${id}`, { signal, onState }))
      update({ told: data, isAway: false })
  } catch (error) {
    update({ error })
  }
  return signal.aborted ? undefined : deployment.value.told
}

/** The deployment that was running when the page was reloaded. */
export function keptDeployment(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    return undefined
  }
}

export function dismissDeployment(): void {
  going?.abort()
  deployment.value = undefined
  keep(undefined)
}

function keep(id: string | undefined): void {
  try {
    if (id) sessionStorage.setItem(STORAGE_KEY, id)
    else sessionStorage.removeItem(STORAGE_KEY)
  } catch {
    // Without storage, it is known until the page is reloaded.
  }
}

onSignOut(dismissDeployment)
