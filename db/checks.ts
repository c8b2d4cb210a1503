/*
 * The stored findings of checks, one row per target, so that the panel can show them without asking the host and each
 * container again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { type Followed, JobPart } from './jobs.ts'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({
  target: z.string(),
  vmid: z.number().nullable(),
  name: z.string(),
  status: z.string(),
  lock: z.string().nullable(),
  template: z.number().transform(Boolean),
  checked_at: z.string().nullable(),
  lists_at: z.string().nullable(),
  job_id: z.string().nullable(),
  unanswered: z.number().transform(Boolean),
  summary: z.string().nullable(),
  checking: z.number().transform(Boolean),
  touched_at: z.string().nullable(),
  repaired_at: z.string().nullable(),
  own_id: z.string().nullable(),
  own_application: z.string().nullable(),
  own_status: z.string().nullable(),
  own_code: z.number().nullable(),
  own_error: z.string().nullable(),
  own_at: z.string().nullable(),
  own_warned: z.number().transform(Boolean),
  own_outcome: z.string().nullable(),
  own_protected: z.string().nullable(),
  storage: z.string().nullable(),
  before: z.string().nullable(),
})

/**
 * A target with the findings of its last check as JSON. `unanswered` means that the target did not answer a later
 * check. The columns `own_…` describe the last ended upgrade of this target alone, or a worse end of an application that
 * still stands, whose name is `own_application`; `own_protected` is JSON of the number of
 * its `regressions`, its policy's `on_failure`, and what was `decided`. `touched_at` is the end of the last job of this
 * target alone that may have changed its packages or has started it, of the last reboot of the host, or the time when the
 * list first had it running again. `storage` is what its storage can do, as JSON, and `before` what its stored policy
 * asks to be made before an upgrade.
 */
export type CheckRow = z.infer<typeof Row>

/** A container as the host lists it. */
export interface ListedContainer {
  vmid: number
  name: string
  status: string
  /** The operation that holds the container's lock, if any. */
  lock?: string | undefined
}

/** An ended upgrade. An upgrade that was cancelled before its start changed nothing and does not count. */
const ENDED = `kind = 'upgrade' AND finished_at IS NOT NULL AND (launched = 1 OR coalesce(error_code, '') <> 'cancelled')`

/** How bad an end is: 2 for harm that nobody has accepted, 1 for an application whose update failed, 0 for all others. */
const WEIGHT = `CASE
  WHEN protected ->> '$.decided' IS NOT NULL THEN 0
  WHEN outcome = 'regressed' THEN iif(protected ->> '$.protection.on_failure' = 'keep', 0, 2)
  WHEN outcome = 'rollback_failed' THEN iif(c.checked_at > finished_at, 0, 2)
  WHEN kind = 'application' AND coalesce(outcome, 'failed') = 'failed' THEN 1 ELSE 0 END`

/**
 * The last upgrade of a target, or the last update of one of its applications where that needs somebody more. Packages that
 * are upgraded prove nothing about an application, nor does one application about another, nor a run of nothing about any.
 */
const OWN = `
  SELECT id FROM (
    SELECT * FROM (SELECT id, kind, ${WEIGHT} AS weight, rowid AS nth FROM jobs
      WHERE target = c.target AND ${ENDED} ORDER BY rowid DESC LIMIT 1)
    UNION ALL
    SELECT id, kind, ${WEIGHT}, max(rowid) FROM jobs
    WHERE target = c.target AND kind = 'application' AND finished_at IS NOT NULL AND launched = 1
      AND coalesce(outcome, '') <> 'cancelled' AND coalesce(error_code, '') NOT IN ('source_changed', 'not_agreed', 'application_not_begun', 'protection_unavailable')
    GROUP BY args ->> '$.application')
  WHERE kind = 'upgrade' OR weight > 0
  ORDER BY weight DESC, nth DESC LIMIT 1`

const CHECKS = `
SELECT c.target, c.vmid, c.name, c.status, c.lock, c.template, c.checked_at, c.lists_at, c.job_id, c.unanswered, c.summary,
  EXISTS (SELECT 1 FROM jobs WHERE kind = 'check' AND status = 'running' AND target IN (c.target, 'all')) AS checking,
  nullif(max(coalesce(c.started_at, ''), coalesce((
    SELECT max(finished_at) FROM jobs WHERE target = c.target AND launched = 1 AND coalesce(error_code, '') NOT IN ('plan_changed', 'plan_not_begun')
      AND (kind IN ('upgrade', 'application', 'remedy', 'rollback', 'restart', 'reboot')
      OR (kind = 'container' AND json_extract(args, '$.action') IN ('start', 'reboot')))), ''),
    coalesce(iif(c.vmid IS NOT NULL AND c.status = 'running',
      (SELECT max(finished_at) FROM jobs WHERE target = 'host' AND kind = 'reboot' AND status = 'success'), ''), '')), '') AS touched_at,
  (SELECT max(finished_at) FROM jobs WHERE target = c.target AND kind = 'remedy' AND exit_code = 0) AS repaired_at,
  own.id AS own_id, iif(own.kind = 'application', own.args ->> '$.name', NULL) AS own_application, own.status AS own_status, own.exit_code AS own_code, own.error_code AS own_error,
  own.finished_at AS own_at, own.warnings IS NOT NULL AS own_warned, own.outcome AS own_outcome,
  iif(own.protected IS NULL, NULL, json_object('regressions', json_array_length(own.protected, '$.regressions'),
    'on_failure', own.protected ->> '$.protection.on_failure', 'decided', own.protected -> '$.decided')) AS own_protected,
  (SELECT facts FROM container_storage WHERE target = c.target) AS storage,
  coalesce((SELECT protection ->> '$.before' FROM protections WHERE target = c.target),
    (SELECT protection ->> '$.before' FROM protections WHERE target = 'default')) AS before
FROM checks c
LEFT JOIN jobs own ON own.id = (${OWN})`

/** Reads every target, the host first. */
export function readChecks(db: Database): Promise<CheckRow[]> {
  return db.query(Row, `${CHECKS} ORDER BY c.vmid IS NOT NULL, c.vmid`)
}

export async function readCheck(db: Database, target: string): Promise<CheckRow | undefined> {
  const [row] = await db.query(Row, `${CHECKS} WHERE c.target = ?`, [target])
  return row
}

const OfAll = z.object({
  id: z.string(),
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  finished_at: z.string(),
  launched: z.number().transform(Boolean),
  parts: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : z.array(JobPart).parse(JSON.parse(text)))),
})

/** An ended upgrade of all containers. `parts` is the noted result of each; null when nothing was noted. */
export type UpgradeOfAll = z.infer<typeof OfAll>

/** The result of a container that so many upgrades have left out is too old to show. */
const OF_ALL = 10

/**
 * Reads the last upgrades of all, newest first. Read the checks before: an upgrade that ends in between outdates them.
 */
export function upgradesOfAll(db: Database): Promise<UpgradeOfAll[]> {
  return db.query(
    OfAll,
    `SELECT id, status, exit_code, error_code, finished_at, launched, parts FROM jobs
     WHERE target = 'all' AND ${ENDED} ORDER BY rowid DESC LIMIT ?`,
    [OF_ALL],
  )
}

const Packages = z.object({ packages: z.string().nullable() })

/** The packages that the last check found, as JSON; undefined without a check. */
export async function readCheckedPackages(db: Database, target: string): Promise<string | undefined> {
  const [row] = await db.query(Packages, 'SELECT packages FROM checks WHERE target = ?', [target])
  return row?.packages ?? undefined
}

const Name = z.object({ target: z.string() })

/** The targets whose package lists are searched by one statement. */
const SEARCHED = 10

/**
 * The targets whose package list, as JSON, contains a text anywhere, the host first. Compares ASCII letters whatever
 * their case.
 */
export async function targetsNaming(db: Database, text: string): Promise<string[]> {
  const known = await db.query(
    Name,
    'SELECT target FROM checks WHERE packages IS NOT NULL ORDER BY vmid IS NOT NULL, vmid',
  )
  const written = JSON.stringify(text).slice(1, -1)
  const found = new Set<string>()
  for (let from = 0; from < known.length; from += SEARCHED) {
    const some = JSON.stringify(known.slice(from, from + SEARCHED).map(({ target }) => target))
    const rows = await db.query(
      Name,
      `SELECT target FROM checks WHERE target IN (SELECT value FROM json_each(?))
         AND instr(lower(packages), lower(?)) > 0`,
      [some, written],
    )
    for (const { target } of rows) found.add(target)
    await nextTurn()
  }
  return known.flatMap(({ target }) => (found.has(target) ? [target] : []))
}

const Running = z.object({ id: z.string() })

/** The id of the running check that covers a target: its own, or the check of all. */
export async function runningCheck(db: Database, target: string): Promise<string | undefined> {
  const [row] = await db.query(
    Running,
    `SELECT id FROM jobs WHERE kind = 'check' AND status = 'running' AND target IN (?, 'all') ORDER BY rowid LIMIT 1`,
    [target],
  )
  return row?.id
}

const Place = z.object({ vmid: z.number(), name: z.string(), status: z.string(), lock: z.string().nullable() })

const placeOf = ({ vmid, name, status, lock = '' }: ListedContainer) => ({
  vmid,
  name,
  status,
  lock: lock.slice(0, 64) || null,
})

/** Stores the list of containers and removes those that are gone. Writes nothing when the list has not changed. */
export async function updateContainers(
  db: Database,
  containers: readonly ListedContainer[],
  now: string,
): Promise<void> {
  const known = await db.query(
    Place,
    'SELECT vmid, name, status, lock FROM checks WHERE vmid IS NOT NULL ORDER BY vmid',
  )
  const found = containers.map(placeOf).sort((a, b) => a.vmid - b.vmid)
  if (JSON.stringify(known) !== JSON.stringify(found)) await db.batch(saveContainers(containers, now))
}

/**
 * Makes the statements that store the list of containers as it was at `at`; with `job`, only together with the end of
 * that job.
 */
export function saveContainers(containers: readonly ListedContainer[], at: string, job?: Followed): Statement[] {
  const [condition, ended] = ifEnded(job)
  const list = JSON.stringify(containers.map(placeOf))
  const value = (name: string) => `json_extract(value, '$.${name}')`
  return [
    {
      sql: `INSERT INTO checks (target, vmid, name, status, lock)
            SELECT 'lxc:' || ${value('vmid')}, ${value('vmid')}, ${value('name')}, ${value('status')}, ${value('lock')}
            FROM json_each(?) WHERE ${condition}
            ON CONFLICT (target) DO UPDATE SET name = excluded.name, status = excluded.status, lock = excluded.lock,
              template = iif(excluded.status = 'running', 0, template),
              started_at = iif(excluded.status = 'running' AND status <> 'running', ?, started_at)`,
      args: [list, ...ended, at],
    },
    {
      sql: `DELETE FROM checks WHERE vmid IS NOT NULL AND ${condition}
            AND vmid NOT IN (SELECT ${value('vmid')} FROM json_each(?))`,
      args: [...ended, list],
    },
  ]
}

/** Makes the statement that stores with the end of a job whether a stopped container is a template. */
export function saveTemplate(job: Followed, { vmid, isTemplate }: { vmid: number; isTemplate: boolean }): Statement {
  const [condition, ended] = ifEnded(job)
  const sql = `UPDATE checks SET template = ? WHERE vmid = ? AND template <> ? AND status <> 'running' AND ${condition}`
  return { sql, args: [Number(isTemplate), vmid, Number(isTemplate), ...ended] }
}

/**
 * True unless a later job made the stored findings. Compares the order of the jobs, because a clock may be set back.
 */
const NO_LATER = `coalesce((SELECT rowid FROM jobs WHERE id = checks.job_id), 0) <= (SELECT rowid FROM jobs WHERE id = excluded.job_id)`

/** Makes the statement that stores a target's findings with the end of a job. The findings of a later check stay. */
export function saveFindings(
  job: Followed,
  {
    target,
    at,
    listsAt,
    summary,
    packages,
  }: { target: string; at: string; listsAt: string | null; summary: string; packages: string },
): Statement {
  const [condition, ended] = ifEnded(job)
  // Without new lists, the old ones keep their age.
  return {
    sql: `INSERT INTO checks (target, name, status, checked_at, lists_at, job_id, summary, packages)
          SELECT ?, '', 'running', ?, ?, ?, ?, ? WHERE ${condition} AND (? = 'host' OR EXISTS (SELECT 1 FROM checks WHERE target = ?))
          ON CONFLICT (target) DO UPDATE SET checked_at = excluded.checked_at,
            lists_at = coalesce(excluded.lists_at, lists_at), job_id = excluded.job_id, unanswered = 0,
            summary = excluded.summary, packages = excluded.packages
          WHERE ${NO_LATER}`,
    args: [target, at, listsAt, job.id, summary, packages, ...ended, target, target],
  }
}

/** Makes the statement that marks a target as unanswered with the end of a job. Its earlier findings stay. */
export function markUnanswered(job: Followed, target: string): Statement {
  const [condition, ended] = ifEnded(job)
  return {
    sql: `INSERT INTO checks (target, name, status, job_id, unanswered)
          SELECT ?, '', 'running', ?, 1 WHERE ${condition} AND (? = 'host' OR EXISTS (SELECT 1 FROM checks WHERE target = ?))
          ON CONFLICT (target) DO UPDATE SET job_id = excluded.job_id, unanswered = 1
          WHERE ${NO_LATER}`,
    args: [target, job.id, ...ended, target, target],
  }
}

/** A condition that is true once the job has ended in this epoch, so only for the follower that recorded the end. */
export function ifEnded(job: Followed | undefined): [condition: string, args: (string | number)[]] {
  if (!job) return ['true', []]
  return [`EXISTS (SELECT 1 FROM jobs WHERE id = ? AND epoch = ? AND status <> 'running')`, [job.id, job.epoch]]
}
