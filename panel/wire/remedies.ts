import { signal } from '@preact/signals'
import type { Input } from '../../client/index.ts'
import { readChecks } from './checks.ts'
import { readJobs } from './jobs.ts'
import { type Package, readPackages } from './packages.ts'
import { api, onSignOut } from './panel.ts'

type Remedy = Input<'POST /api/updates/remedies'>['body']

/** Starts the remedy of a finding; returns the id of its job. Only administrators may. */
export async function startRemedy(remedy: Remedy): Promise<string> {
  const { job_id } = await api('POST /api/updates/remedies', { body: remedy })
  // The row shows the job at once.
  await Promise.all([readJobs(), readChecks()])
  return job_id
}

/** The packages that were loaded, by target: the search finds them. */
export const knownPackages = signal<ReadonlyMap<string, readonly Package[]>>(new Map())

/** Reads the packages of a target and keeps them for the search. */
export async function loadPackages(target: string, signal?: AbortSignal): Promise<readonly Package[]> {
  const packages = await readPackages(target, signal)
  knownPackages.value = new Map(knownPackages.peek()).set(target, packages)
  return packages
}

onSignOut(() => {
  knownPackages.value = new Map()
})
