import * as z from 'zod'
import { type AgreedSource, readSources } from '../../db/applications.ts'
import { readCheck } from '../../db/checks.ts'
import type { Database } from '../../db/libsql/database.ts'
import { parseTarget, shortened } from '../hypervisor/target.ts'
import { fail } from '../services.ts'
import { type Application, type FoundApplication, FoundApplication as Found, MOST_APPLICATIONS } from './application.ts'

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
    },
  }
}
