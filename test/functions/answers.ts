import { expect } from 'vitest'
import * as z from 'zod'
import type { Database } from '../../db/libsql/database.ts'
import { createSecrets } from '../../platform/secrets.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const ErrorBody = z.strictObject({
  error: z.string().min(1),
  code: z.string(),
  details: z.array(z.strictObject({ field: z.string(), message: z.string() })).optional(),
  findings: z.array(z.looseObject({ code: z.string() })).optional(),
  job_id: z.string().optional(),
  challenge: z.string().optional(),
  factors: z.array(z.string()).optional(),
  passkey: z.looseObject({ challenge: z.string() }).optional(),
})

/** Checks that an answer is this refusal, in the format of every refusal, and returns its body. */
export async function refused(response: Response, status: number, code: string) {
  const text = await response.text()
  expect({ status: response.status, body: text }).toEqual({ status, body: expect.stringContaining(`"code":"${code}"`) })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('x-request-id')).toMatch(UUID)
  expect(response.headers.get('set-cookie')).toBeNull()
  const body = ErrorBody.parse(JSON.parse(text))
  expect(body.code).toBe(code)
  return body
}

/** Checks that an answer has this status and returns its JSON. */
export async function answered(response: Response, status: number): Promise<unknown> {
  const text = await response.text()
  expect({ status: response.status, text }).toEqual({ status, text })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('x-request-id')).toMatch(UUID)
  return JSON.parse(text)
}

const Row = z.record(z.string(), z.unknown())

export function rows(db: Database, sql: string): Promise<Record<string, unknown>[]> {
  return db.query(Row, sql)
}

const AuditRow = z.object({
  at: z.string(),
  action: z.string(),
  user_id: z.number().nullable(),
  username: z.string().nullable(),
  target: z.string().nullable(),
  ip: z.string(),
  details: z
    .string()
    .nullable()
    .transform((text): unknown => (text === null ? null : JSON.parse(text))),
})

/**
 * Returns what was done, oldest first: the audit entries without those of the ends of upgrades, which come at their own
 * time, and without the refusals, which `refusals` returns.
 */
export function audited(db: Database) {
  return db.query(AuditRow, `SELECT * FROM audit WHERE action NOT IN ('update_end', 'access_refused') ORDER BY id`)
}

/** Returns the audit entries of refused requests, oldest first. */
export function refusals(db: Database) {
  return db.query(AuditRow, `SELECT * FROM audit WHERE action = 'access_refused' ORDER BY id`)
}

export async function auditedActions(db: Database): Promise<string[]> {
  return (await audited(db)).map(({ action }) => action)
}

/** The fields of a record that tell of protection, of an upgrade without any. */
export function unprotected(phase: string | null, outcome: string | null = null) {
  return {
    phase,
    outcome,
    snapshot: null,
    regressions: [],
    protection: null,
    unprotected: null,
    reason: null,
    outage_seconds: null,
    decided: null,
  }
}

/** Replaces the stored SSH password by one that another key has sealed. */
export async function sealWithAnotherKey(db: Database): Promise<void> {
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('ssh_password', 'service-password')
  await db.run(`UPDATE settings SET value = ? WHERE key = 'ssh_password'`, [sealed])
}

/** Returns header and claims of a JWT, without verification. */
export function decoded(token: string): { header: unknown; claims: unknown } {
  const [header, claims] = token
    .split('.')
    // The signature is left out: its first characters may be anything, even `ey`.
    .slice(0, 2)
    .map((part): unknown => (part.startsWith('ey') ? JSON.parse(Buffer.from(part, 'base64url').toString()) : undefined))
  return { header, claims }
}
