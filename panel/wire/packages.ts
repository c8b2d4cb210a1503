import { computed, signal as value } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { canBeUpgraded } from '../nouns/checked.ts'
import { checks, readChecks } from './checks.ts'
import { api, onSignOut } from './panel.ts'

export type Package = Answer<'GET /api/updates/checks/{target}'>['packages'][number]

/** A target with its name, and whether it runs. */
export interface Target {
  id: string
  name: string
  status: string
  /** Whether an upgrade can be started, as far as is known. */
  upgradable: boolean
  vmid?: number
}

/** The last known list of the host and its containers; undefined until it is known. */
export const targets = computed<readonly Target[] | undefined>(() =>
  checks.value?.map((check) => ({
    id: check.target,
    name: check.name,
    status: check.state === 'stopped' ? 'stopped' : 'running',
    upgradable: canBeUpgraded(check),
    ...(check.target !== 'host' && { vmid: Number(check.target.slice('lxc:'.length)) }),
  })),
)

/** Whether a target can be checked and upgraded: the host, and running containers. */
export function canBeChecked({ id, status }: Target): boolean {
  return id === 'host' || status === 'running'
}

/** Has the host list its containers, then reads the known results. While the host is away, the earlier list stays. */
export async function readTargets(signal?: AbortSignal): Promise<readonly Target[]> {
  await api('GET /api/updates/targets', { signal })
  await readChecks()
  return targets.peek() ?? []
}

/** The updates that the last check found on a target. */
export async function readPackages(target: string, signal?: AbortSignal): Promise<readonly Package[]> {
  return (await api('GET /api/updates/checks/{target}', { params: { target }, signal })).packages
}

/** The packages that were loaded, by target: a plan shows them until it is made. */
export const knownPackages = value<ReadonlyMap<string, readonly Package[]>>(new Map())

/** Reads the packages of a target, and keeps them. */
export async function loadPackages(target: string, signal?: AbortSignal): Promise<readonly Package[]> {
  const packages = await readPackages(target, signal)
  knownPackages.value = new Map(knownPackages.peek()).set(target, packages)
  return packages
}

onSignOut(() => {
  knownPackages.value = new Map()
})
