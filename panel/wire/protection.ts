import { signal } from '@preact/signals'
import { ApiError } from '../../client/index.ts'
import type { Protection, Protections } from '../nouns/protection.ts'
import { readJobs } from './jobs.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { api, me, onSignOut } from './panel.ts'

/** The policies with what each container can; undefined until they are known. */
export const protections = signal<Protections>()
/** The error of the last reading; earlier policies stay. */
export const protectionsError = signal<unknown>()

/** Reads the policies now. Never rejects: see `protectionsError`. */
export const readProtections = oneAtATime(async () => {
  const asker = me.peek()?.username
  if (asker === undefined) return
  try {
    const answer = await api('GET /api/updates/protection')
    if (me.peek()?.username !== asker) return
    protections.value = answer
    protectionsError.value = undefined
  } catch (error) {
    if (me.peek()?.username === asker) protectionsError.value = error
  }
})

/** Stores the policy of `lxc:<id>` or `default`. Only administrators may. */
export async function savePolicy(target: string, protection: Protection): Promise<void> {
  await api('PUT /api/updates/protection/{target}', { params: { target }, body: protection })
  await readProtections()
}

/** Gives a container the default policy, or the default its first values. Only administrators may. */
export async function dropPolicy(target: string): Promise<void> {
  await api('DELETE /api/updates/protection/{target}', { params: { target } })
  await readProtections()
}

/**
 * Takes a container back to the state before an upgrade; returns the id of the job. From a backup, the container is destroyed first. Only
 * administrators may.
 */
export async function rollBack(id: string, kind: 'snapshot' | 'backup'): Promise<string> {
  const body = kind === 'backup' ? { restore: true } : {}
  const { job_id } = await api('POST /api/updates/jobs/{id}/rollback', { params: { id }, body })
  void readJobs()
  return job_id
}

/**
 * Asks what a rollback to the backup of an upgrade destroys: the volumes that the backup does not have, each as `mp0 (/srv)`.
 * Nothing is started. Rejects when there is no way back.
 */
export async function lossesOfRollBack(id: string): Promise<string[]> {
  try {
    await api('POST /api/updates/jobs/{id}/rollback', { params: { id }, body: {} })
  } catch (error) {
    if (error instanceof ApiError && error.destroys) return error.destroys
    throw error
  }
  throw new Error(`the rollback of ${id} asks nothing`)
}

/** Keeps an upgrade after which something does not work any more. Only administrators may. */
export async function keepUpgrade(id: string): Promise<void> {
  await api('POST /api/updates/jobs/{id}/keep', { params: { id } })
  void readJobs()
}

/** Removes the snapshot or backup of an upgrade; returns the id of the job. Only administrators may. */
export async function removeSnapshot(id: string): Promise<string> {
  const { job_id } = await api('DELETE /api/updates/jobs/{id}/snapshot', { params: { id } })
  void readJobs()
  return job_id
}

onSignOut(() => {
  protections.value = undefined
  protectionsError.value = undefined
})
