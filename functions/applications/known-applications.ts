import * as z from 'zod'
import { type AgreedSource, readSources, saveSource } from '../../db/applications.ts'
import { readCheck } from '../../db/checks.ts'
import type { Database } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import { commandFailure } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseTarget, shortened } from '../hypervisor/target.ts'
import { withoutControls } from '../managers/sections.ts'
import { fail, type Services } from '../services.ts'
import { type Application, type FoundApplication, FoundApplication as Found, MOST_APPLICATIONS } from './application.ts'
import { readStack } from './compose-report.ts'
import { readSource, type Source } from './source.ts'

const Stored = z.object({ applications: z.array(Found).max(MOST_APPLICATIONS).default([]) })

/** An application of the last check, and what was fetched for it. */
export interface KnownApplication {
  found: FoundApplication
  fetched: AgreedSource | undefined
}

/**
 * Reads the applications that the last check of a target has found. Throws `target_invalid` for a target of several
 * places, and `check_missing` for one that was never listed.
 */
export async function knownApplications(db: Database, target: string): Promise<KnownApplication[]> {
  const parsed = parseTarget(target)
  if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
  const row = await readCheck(db, target)
  if (!row) throw fail('check_missing')
  const { applications } = Stored.safeParse(JSON.parse(row.summary ?? '{}')).data ?? { applications: [] }
  const sources = await readSources(db, target)
  return applications.map((found) => ({
    found,
    // The text of another address is none of this application.
    fetched: sources.find(({ application, address }) => application === found.id && address === found.source?.address),
  }))
}

/** Reads one of them. Throws `application_missing`, too. */
export async function knownApplication(db: Database, target: string, id: string): Promise<KnownApplication> {
  const known = (await knownApplications(db, target)).find(({ found }) => found.id === id)
  if (!known) throw fail('application_missing')
  return known
}

/** Returns an application as the API shows it. */
export function applicationOf({ found, fetched }: KnownApplication): Application {
  const { source } = found
  return {
    ...found,
    source: source && {
      address: source.address,
      digest: fetched?.digest ?? source.digest,
      agreed: fetched?.agreed ?? false,
      agreed_by: fetched?.agreed_by ?? null,
      agreed_at: fetched?.agreed_at ?? null,
    },
  }
}

/** The codes that `fetchedSource` throws, beside those of its caller. */
export const FETCH_ERRORS = [
  'target_invalid',
  'check_missing',
  'application_missing',
  'application_unsupported',
  'source_unavailable',
  'ssh_failed',
  'host_answer_too_long',
  'host_helper_old',
  'host_helper_lacks',
] as const

/**
 * Fetches what the update of an application would run, stores its digests, and tells whether somebody has agreed to it.
 * Throws `application_unsupported` for one that the panel does not update, `source_unavailable`, and an SshError.
 */
export async function fetchedSource(
  { db, host, clock }: Pick<Services, 'db' | 'host' | 'clock'>,
  { target, known: { found }, user }: { target: string; known: KnownApplication; user: number },
): Promise<Source & { agreed: boolean }> {
  const parsed = parseTarget(target)
  if (parsed?.kind !== 'container') throw fail('target_invalid', { values: { target: shortened(target) } })
  const isStack = found.kind === 'compose'
  if ((found.kind !== 'community_script' && !isStack) || found.source === null || !found.updatable)
    throw fail('application_unsupported')
  // The host helper runs nothing that the account brings.
  if ((await elevationOf(host)) === 'helper')
    throw fail('host_helper_lacks', { values: { what: 'lire ce que la mise à jour d’une application exécute' } })
  const { address } = found.source
  const reading = isStack
    ? await readStack(host, { id: parsed.id, project: found.name, user })
    : await readSource(host, { id: parsed.id, address, user })
  if (reading.kind === 'failed') throw commandFailure(reading.output)
  if (reading.kind === 'away') {
    const values = { address: withoutControls(reading.address), reason: withoutControls(reading.reason) }
    throw fail('source_unavailable', { values })
  }
  const { source } = reading
  const files = source.files.map(({ address: from, digest, size }) => ({ address: from, digest, size }))
  await saveSource(db, {
    target,
    application: found.id,
    address,
    digest: source.digest,
    files: JSON.stringify(files),
    refused: JSON.stringify(source.refused),
    fetched_at: timestamp(clock()),
  })
  const stored = await readSources(db, target)
  return { ...source, agreed: stored.some(({ digest, agreed }) => digest === source.digest && agreed) }
}
