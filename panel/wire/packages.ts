import { computed } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { canBeUpgraded } from '../nouns/checked.ts'
import { checks, readChecks } from './checks.ts'
import { api } from './panel.ts'

export type Package = Answer<'GET /api/updates/checks/{target}'>['packages'][number]

/** A target as it is named, and whether it runs. */
export interface Target {
  id: string
  name: string
  status: string
  /** Whether what is known of it lets an upgrade be started. */
  upgradable: boolean
  vmid?: number
}

/** The host and its containers, as they were listed last; undefined until they are known. */
export const targets = computed<readonly Target[] | undefined>(() =>
  checks.value?.map((check) => ({
    id: check.target,
    name: check.name,
    status: check.state === 'stopped' ? 'stopped' : 'running',
    upgradable: canBeUpgraded(check),
    ...(check.target !== 'host' && { vmid: Number(check.target.slice('lxc:'.length)) }),
  })),
)

/** `host` and what runs can be looked at, and upgraded. */
export function canBeChecked({ id, status }: Target): boolean {
  return id === 'host' || status === 'running'
}

/** Has the host list its containers, then reads what is known of them: of a host that is away, what was known before. */
export async function readTargets(signal?: AbortSignal): Promise<readonly Target[]> {
  await api('GET /api/updates/targets', { signal })
  await readChecks()
  return targets.peek() ?? []
}

/** What was found waiting at a target. */
export async function readPackages(target: string, signal?: AbortSignal): Promise<readonly Package[]> {
  return (await api('GET /api/updates/checks/{target}', { params: { target }, signal })).packages
}
