import { expect } from 'vitest'
import * as z from 'zod'
import { addSchedule } from '../../../db/schedules/schedules.ts'
import { addRunNow } from '../../../db/schedules/slots.ts'
import { readRun } from '../../../db/schedules/runs.ts'
import type { Services } from '../../../functions/services.ts'
import { MANAGED_PLAN } from '../../../functions/plans/plan-command.ts'
import { PLAN } from '../../../functions/plans/plan-script.ts'
import { LOOK, LOOK_MARK } from '../../../functions/restarts/reboot-script.ts'
import addChannel from '../../../functions/notifications/channels.post.ts'
import cancel from '../../../functions/schedules/cancel.post.ts'
import scheduleRun from '../../../functions/schedules/run.get.ts'
import carry from '../../../functions/waves/carry-schedules.task.ts'
import { newProgress, pingSecret, RunProgress, ScheduleSettings } from '../../../schedules/schedules.ts'
import type { Output } from '../../../ssh/channel.ts'
import type { Command } from '../../../ssh/command.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START, testApp } from '../../app.ts'
import { rows } from '../answers.ts'
import { ONE } from '../plans/simulated.ts'

export const MINUTE = 60_000
export const BOOT = '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90'

interface Box {
  /** The status of each container by its number. */
  containers: Record<string, string>
  /** The tags by number. */
  tags: Record<string, string>
  /** The output of simulations, by place. */
  plans: Record<string, Partial<Output>>
  /** The output of those of another manager than apt, by place. */
  managed: Record<string, Partial<Output>>
  /** The findings that checks store, by place. */
  findings: Record<string, object[]>
  /** The groups of the owner's account. */
  groups: string[]
  isAway: boolean
  backup: 'backup' | 'free'
  /** Whether the package lists of all targets have just been read. */
  isFresh: boolean
  /** The places whose plans were made. */
  planned: string[]
}

/** In place of the audit entry of a start, which these tests are not about. */
const sql = `INSERT OR IGNORE INTO revisions (name, n) SELECT 'x', 1`

/** The summary of a check that has found nothing but these. */
const summary = (findings: readonly object[] = []) => ({
  manager: 'apt',
  os: null,
  counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
  download_bytes: null,
  disk_bytes: null,
  findings,
  reboot: { required: null, reasons: [] },
  services: [],
})

/** Wave, as a test writes it. */
export const wave = (targets: 'rest' | string[], pause_minutes = 0) => ({ targets, pause_minutes })

/**
 * The app with a host that lists containers and simulates plans. Its jobs take their turns and then never end by themselves:
 * the test ends them.
 */
export async function waveApp(own: Partial<Box> = {}) {
  const box: Box = {
    containers: { 101: 'running', 102: 'running', 103: 'running' },
    tags: {},
    plans: {},
    managed: {},
    findings: {},
    groups: ['sudo', 'root'],
    isAway: false,
    backup: 'free',
    isFresh: true,
    planned: [],
    ...own,
  }
  const app = await testApp([scheduleRun, cancel, addChannel])
  const { db, services } = app
  const { host, jobs } = services
  const output = (given: Partial<Output>) => ({ code: 0, stdout: '', stderr: '', ...given })
  host.inspect = async (username) => {
    if (box.isAway) throw new SshError('unreachable', 'connexion refusée')
    const usual = { shell: '/bin/bash', sudo: true, localPassword: true, overdue: undefined }
    return box.groups.length === 0 ? 'gone' : { name: username, uid: 1000, groups: box.groups, ...usual }
  }
  host.exec = async (command: Command) => {
    if (box.isAway) throw new SshError('unreachable', 'connexion refusée')
    const [program, verb, id = ''] = command
    if (command.some((word) => word.endsWith(MANAGED_PLAN)))
      return output(box.managed[program === '/usr/sbin/pct' ? id : 'host'] ?? {})
    if (command.includes(PLAN)) {
      const place = program === '/usr/sbin/pct' ? id : 'host'
      box.planned.push(place)
      return output(box.plans[place] ?? { stdout: ONE })
    }
    if (program === '/usr/sbin/pct' && verb === 'list') {
      const lines = Object.entries(box.containers).map(([number, status]) => `${number} ${status}  ct${number}`)
      return output({ stdout: ['VMID Status Lock Name', ...lines].join('\n') })
    }
    if (program === '/usr/sbin/pct' && verb === 'status') return output({ stdout: `status: ${box.containers[id]}\n` })
    if (program === '/usr/sbin/pct' && verb === 'config')
      return output({ stdout: `arch: amd64\ntags: ${box.tags[id] ?? ''}\n` })
    if (command.includes(LOOK))
      return output({ stdout: [LOOK_MARK, 'pve1', BOOT, 1_795_000_000, box.backup, 'active', 'end'].join('\n') })
    return new Promise(() => {})
  }
  await app.tokenFor('admin')

  /** Begins a run of a new schedule of alice, as a slot or a person does. */
  const begin = async (given: Partial<z.input<typeof ScheduleSettings>> = {}, ping: string | null = null) => {
    const settings = ScheduleSettings.parse({
      window_minutes: 60,
      action: 'upgrade',
      only: 'all',
      waves: [wave(['lxc:101']), wave('rest')],
      on_failure: 'stop',
      reboot: 'never',
      ...given,
    })
    const now = services.clock()
    const [schedule, id] = [`s${now.getTime()}`, `r${now.getTime()}`]
    const text = JSON.stringify(settings)
    const [alice] = await db.query(z.object({ id: z.number() }), `SELECT id FROM users WHERE username = 'alice'`)
    const sealed = ping && app.secrets.seal(pingSecret(schedule), ping)
    const row = {
      id: schedule,
      name: 'Nuit',
      enabled: true,
      cron: '0 3 * * *',
      timezone: 'UTC',
      settings: text,
      ping: sealed,
    }
    const at = now.toISOString()
    const times = { handled_ms: now.getTime(), next_ms: null }
    const made = { ...row, created_by: alice?.id ?? 0, paused_reason: null }
    expect(await addSchedule(db, made, { times, at, most: 1_000, entry: { sql } })).toBe(true)
    const closes = new Date(now.getTime() + settings.window_minutes * MINUTE).toISOString()
    const progress = JSON.stringify(newProgress(settings))
    const run = { id, due_ms: now.getTime(), due_at: at, closes_at: closes, settings: text, waves: progress }
    expect(
      await addRunNow(db, { id: schedule, revision: 1 }, { ...run, started_at: at, started_by: 'alice' }, { sql }),
    ).toBe(true)
    return id
  }
  const refresh = async (targets: readonly string[]) => {
    const at = services.clock().toISOString()
    const sql = `INSERT INTO checks (target, vmid, name, status, lists_at, checked_at, summary) VALUES (?1, ?2, ?1, 'running', ?3, ?3, ?4)
      ON CONFLICT (target) DO UPDATE SET lists_at = ?3, checked_at = ?3`
    const vmidOf = (target: string) => (target === 'host' ? null : Number(target.slice('lxc:'.length)))
    const told = (target: string) => JSON.stringify(summary(box.findings[vmidOf(target) ?? 'host']))
    await db.batch(targets.map((target) => ({ sql, args: [target, vmidOf(target), at, told(target)] })))
  }
  const tick = async (of: Services = services) => {
    if (box.isFresh) await refresh(['host', ...Object.keys(box.containers).map((id) => `lxc:${id}`)])
    await carry.run(of)
    await jobs.maintain()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const read = async (id: string) => {
    const row = await readRun(db, id)
    if (!row) throw new Error(`no run ${id}`)
    return { ...row, ...RunProgress.parse(JSON.parse(row.waves)) }
  }
  /** Ticks until the wave is in that state. */
  const until = (id: string, at: number, state: string) =>
    expect
      .poll(
        async () => {
          await tick()
          return (await read(id)).waves[at]?.state
        },
        { interval: 5 },
      )
      .toBe(state)
  /** Ticks until the run is in that state. */
  const ended = async (id: string, state: string) => {
    await expect
      .poll(
        async () => {
          await tick()
          return (await read(id)).state
        },
        { interval: 5 },
      )
      .toBe(state)
    return read(id)
  }
  /** Ends a job as its follower does; the followers of this app wait for a host that never answers. */
  const endJob = async (target: string, outcome: string | null, status = 'success', more = '') => {
    const changed = await db.run(
      `UPDATE jobs SET status = ?, outcome = ?, finished_at = ?, owner = NULL, epoch = epoch + 1 ${more}
       WHERE target = ? AND status = 'running'`,
      [status, outcome, services.clock().toISOString(), target],
    )
    expect(changed).toBe(1)
  }
  /** The outcomes of a wave by target. */
  const outcomes = async (id: string, at: number) =>
    Object.fromEntries((await read(id)).waves[at]?.jobs.map(({ target, outcome }) => [target, outcome]) ?? [])
  /** The targets of all jobs, in the order of their start; those at work have `begun`. */
  const jobsOf = (what = 'true') =>
    rows(db, `SELECT target FROM jobs WHERE ${what} ORDER BY rowid`).then((all) => all.map(({ target }) => target))
  const stopped = () =>
    rows(db, `SELECT event, run, severity, details FROM notification_events WHERE event = 'schedule_stopped'`)
  return {
    app,
    box,
    db,
    services,
    begin,
    refresh,
    tick,
    read,
    until,
    ended,
    endJob,
    outcomes,
    jobsOf,
    stopped,
    start: START,
  }
}
