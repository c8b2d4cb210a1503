import { signal } from '@preact/signals'
import type { Application, Source } from '../nouns/application.ts'
import { readJobs } from './jobs.ts'
import { api, onSignOut } from './panel.ts'

/** An application of a target. */
export interface ApplicationOf {
  target: string
  id: string
}

/** Counts what has changed about agreements and sources, so that lists of applications read again. */
export const applicationNews = signal(0)

/** The applications that the last check of a target has found. */
export async function readApplications(target: string, wait: AbortSignal): Promise<readonly Application[]> {
  const { applications } = await api('GET /api/updates/applications', { query: { target }, signal: wait })
  return applications
}

/** The texts of the last agreements, as far as this window has read them. */
const agreed = new Map<string, Source>()
const keyOf = ({ target, id }: ApplicationOf) => `${target} ${id}`

/** The texts of the last agreement that this window has read; undefined where it has read none. */
export function lastAgreed(of: ApplicationOf): Source | undefined {
  return agreed.get(keyOf(of))
}

/** Fetches what an update would run, inside the container. Runs nothing. */
export async function fetchSource({ target, id }: ApplicationOf, wait: AbortSignal): Promise<Source> {
  const source = await api('POST /api/updates/applications/source', { body: { target, id }, signal: wait })
  if (source.agreed) agreed.set(keyOf({ target, id }), source)
  applicationNews.value += 1
  return source
}

/** Agrees to exactly these texts. Only administrators may. */
export async function agreeTo({ target, id }: ApplicationOf, source: Source): Promise<Source> {
  await api('PUT /api/updates/applications/agreement', { body: { target, id, digest: source.digest } })
  const own = { ...source, agreed: true }
  agreed.set(keyOf({ target, id }), own)
  applicationNews.value += 1
  return own
}

/** Withdraws the agreement to this digest, on every container. Only administrators may. */
export async function withdrawAgreement({ target, id }: ApplicationOf, digest: string): Promise<void> {
  await api('DELETE /api/updates/applications/agreement', { body: { target, id, digest } })
  applicationNews.value += 1
}

/** Starts the update that runs exactly this digest; returns the id of the job. Only administrators may. */
export async function startApplication({ target, id }: ApplicationOf, digest: string): Promise<string> {
  const { job_id } = await api('POST /api/updates/applications/run', { body: { target, id, digest } })
  void readJobs()
  return job_id
}

onSignOut(() => agreed.clear())
