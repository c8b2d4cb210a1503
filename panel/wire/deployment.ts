import { signal } from '@preact/signals'
import type { Deployment } from '../../client/index.ts'
import { atSignOut, panel } from './panel.ts'

/** A change of a module that takes a restart, as it is followed. */
export interface FollowedDeployment {
  id: string
  /** As it was told last; undefined until then. */
  told?: Deployment
  /** The connection is gone, as it is when the service restarts. */
  isAway: boolean
  /** Why it cannot be followed. */
  error?: unknown
}

/** Kept over a reload of the page: the service has no list of them. */
const KEPT = 'ops-panel.deployment'

/** The last one that was begun in this window, until it is put away. */
export const deployment = signal<FollowedDeployment>()

let going: AbortController | undefined

/** Follows a deployment to its end, over the restart of the service. Never rejects; resolves with what was told last. */
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

/** The one that was under way when the page was loaded anew. */
export function keptDeployment(): string | undefined {
  try {
    return sessionStorage.getItem(KEPT) ?? undefined
  } catch {
    return undefined
  }
}

export function putDeploymentAway(): void {
  going?.abort()
  deployment.value = undefined
  keep(undefined)
}

function keep(id: string | undefined): void {
  try {
    if (id) sessionStorage.setItem(KEPT, id)
    else sessionStorage.removeItem(KEPT)
  } catch {
    // It is known as long as the page is not loaded anew.
  }
}

atSignOut(putDeploymentAway)
