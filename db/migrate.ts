/**
 * The database room holds the schema, its migrations and every SQL statement. It promises that a migration or batch
 * applies as a whole or not at all, and that a database of another program is never changed. It must not know HTTP, SSH
 * or the rules of an area: callers pass plain values and get parsed rows.
 */
import * as z from 'zod'
import type { Database } from './libsql/database.ts'
import { expectOwn } from './libsql/foreign.ts'
import { sql as first } from './migrations/0001-first.ts'
import { sql as signIn } from './migrations/0002-sign-in.ts'
import { sql as dashboardLayouts } from './migrations/0003-dashboard-layouts.ts'
import { sql as jobLeases } from './migrations/0004-job-leases.ts'
import { sql as outputEncoding } from './migrations/0005-output-encoding.ts'
import { sql as modules } from './migrations/0006-modules.ts'
import { sql as accounts } from './migrations/0007-accounts.ts'
import { sql as checks } from './migrations/0008-checks.ts'
import { sql as jobFolder } from './migrations/0009-job-folder.ts'
import { sql as jobTurns } from './migrations/0010-job-turns.ts'
import { sql as jobParts } from './migrations/0011-job-parts.ts'
import { sql as chosenPreferences } from './migrations/0012-chosen-preferences.ts'
import { sql as securityData } from './migrations/0013-security-data.ts'
import { sql as jobWarnings } from './migrations/0014-job-warnings.ts'
import { sql as automaticChecks } from './migrations/0015-automatic-checks.ts'
import { sql as containerFlags } from './migrations/0016-container-flags.ts'
import { sql as plans } from './migrations/0017-plans.ts'
import { sql as planConffiles } from './migrations/0018-plan-conffiles.ts'
import { sql as protection } from './migrations/0019-protection.ts'
import { sql as standing } from './migrations/0020-standing.ts'
import { sql as restarts } from './migrations/0021-restarts.ts'
import { sql as schedules } from './migrations/0022-schedules.ts'
import { sql as notifications } from './migrations/0023-notifications.ts'
import { sql as scheduleRevisions } from './migrations/0024-schedule-revisions.ts'
import { sql as applications } from './migrations/from-0025/0025-applications.ts'
import { sql as jobFolders } from './migrations/from-0025/0026-job-folders.ts'
import { sql as access } from './migrations/from-0025/0027-access.ts'
import { sql as moduleKit } from './migrations/from-0025/0028-module-kit.ts'

/** The migrations in order. A released migration never changes. Its version is its position here, from 1. */
export const MIGRATIONS: readonly string[] = [
  first,
  signIn,
  dashboardLayouts,
  jobLeases,
  outputEncoding,
  modules,
  accounts,
  checks,
  jobFolder,
  jobTurns,
  jobParts,
  chosenPreferences,
  securityData,
  jobWarnings,
  automaticChecks,
  containerFlags,
  plans,
  planConffiles,
  protection,
  standing,
  restarts,
  schedules,
  notifications,
  scheduleRevisions,
  applications,
  jobFolders,
  access,
  moduleKit,
]

const Version = z.object({ version: z.number() })

/** The schema version of this program. */
export const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Applies the missing migrations, each with its version in one transaction, and returns the version reached. Two
 * processes may start at once: the second finds a version taken and continues from there. Rejects without a change when
 * the database belongs to a newer version or to another program.
 */
export async function migrate(db: Database, now: Date, migrations = MIGRATIONS): Promise<number> {
  await expectOwn(db)
  await db.script('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)')
  let version = await schemaVersion(db)
  if (version > migrations.length) {
    throw new Error(`la base est de la version ${version}, plus récente que ce programme (${migrations.length})`)
  }
  while (version < migrations.length) {
    const next = version + 1
    const at = now.toISOString()
    try {
      await db.script(
        `BEGIN IMMEDIATE; INSERT INTO schema_version VALUES (${next}, '${at}');${migrations[version]};COMMIT;`,
      )
    } catch (error) {
      if ((await schemaVersion(db)) < next) throw error
    }
    version = await schemaVersion(db)
  }
  return version
}

/** Returns the schema version of a database; 0 without one. */
export async function schemaVersion(db: Database): Promise<number> {
  const tables = await db.query(z.unknown(), `SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'`)
  if (tables.length === 0) return 0
  const rows = await db.query(Version, 'SELECT coalesce(max(version), 0) AS version FROM schema_version')
  return rows[0]?.version ?? 0
}
