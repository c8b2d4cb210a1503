import { expect } from 'vitest'
import * as z from 'zod'
import type { Caller } from './client.ts'

const Started = z.object({ job_id: z.string(), message: z.string() })
const Finding = z.looseObject({
  code: z.string(),
  severity: z.string(),
  message: z.string(),
  packages: z.array(z.string()),
  repository: z.string().nullable(),
  remedy: z.looseObject({ action: z.string() }).nullable(),
})
const Package = z.looseObject({
  name: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  action: z.string(),
  status: z.string(),
  reason: z.string().nullable(),
})
const Check = z.looseObject({
  target: z.string(),
  state: z.string(),
  checked_at: z.string().nullable(),
  lists_at: z.string().nullable(),
  findings: z.array(Finding),
  packages: z.array(Package).default([]),
})
const Ended = z.looseObject({ status: z.string(), exit_code: z.number().nullable(), output: z.string().optional() })

/** The checks and remedies of one caller. */
export function checkingAs(caller: Caller) {
  /** Waits for the end of a job and returns its record. */
  const ended = async (id: string, output = false) => {
    const path = `/api/updates/jobs/${id}${output ? '' : '?output=none'}`
    const job = async () => Ended.parse((await caller.get(path)).body)
    await expect.poll(async () => (await job()).status, { timeout: 60_000, interval: 50 }).not.toBe('running')
    return job()
  }
  const started = async (path: string, body: unknown) => {
    const { status, body: answer } = await caller.post(path, body)
    if (status !== 202) throw new Error(`${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`)
    return Started.parse(answer).job_id
  }
  const target = async (name: string) => Check.parse((await caller.get(`/api/updates/checks/${name}`)).body)
  return {
    ended,
    target,
    /** Checks a target and returns its check. */
    async check(name: string) {
      await ended(await started('/api/updates/checks', { target: name }))
      return target(name)
    },
    /** Applies a remedy and returns the record of its job, with the output. */
    async remedy(name: string, action: string, more: { packages?: string[]; repository?: string } = {}) {
      return ended(await started('/api/updates/remedies', { target: name, action, ...more }), true)
    },
    async upgrade(name: string) {
      return ended(await started('/api/updates/run', { target: name }), true)
    },
  }
}

/**
 * Turns automatic checks off, as an administrator, and waits until none runs: `keepHostFile` without a database needs
 * a job that is the only one on the host.
 */
export async function endAutomaticChecks(admin: Caller): Promise<void> {
  const { status } = await admin.patch('/api/settings', { checks_automatic: 'off' })
  expect(status).toBe(200)
  const Checks = z.object({ checks: z.array(z.looseObject({ checking: z.boolean() })) })
  const running = async () =>
    Checks.parse((await admin.get('/api/updates/checks')).body).checks.some((one) => one.checking)
  await expect.poll(running, { timeout: 60_000 }).toBe(false)
}
