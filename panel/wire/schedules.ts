import type { Answer, Input } from '../../client/index.ts'
import { readChecks } from './checks.ts'
import { api } from './panel.ts'

export type Schedules = Answer<'GET /api/schedules'>
type Created = Input<'POST /api/schedules'>['body']
type Changed = Input<'PATCH /api/schedules/{id}'>['body']

/** As many schedules are shown at once. */
export const SCHEDULES_AT_ONCE = 20
/** More than the service stores. */
const MOST_SCHEDULES = 500

/**
 * The first `limit` schedules whose name has `q`, those that need somebody first. A longer list is one larger answer: joined from pages, it
 * would lack a schedule that changes its place in between.
 */
export function readSchedules(limit: number, q: string, signal?: AbortSignal): Promise<Schedules> {
  return api('GET /api/schedules', {
    query: { limit: Math.min(limit, MOST_SCHEDULES), ...(q !== '' && { q }) },
    signal,
  })
}

export function readSchedule(id: string, signal?: AbortSignal) {
  return api('GET /api/schedules/{id}', { params: { id }, signal })
}

export function readScheduleRun(id: string, signal?: AbortSignal) {
  return api('GET /api/schedules/runs/{id}', { params: { id }, signal })
}

/** As many runs of a schedule are kept by the service. */
export const RUNS_KEPT = 200
const RUNS_AT_ONCE = 20

/** A part of the runs of a schedule, newest first. `before` is the id of the last one that is there. */
export function readRuns(id: string, before: string | undefined, signal?: AbortSignal) {
  const query = { limit: RUNS_AT_ONCE, ...(before !== undefined && { before }) }
  return api('GET /api/schedules/{id}/runs', { params: { id }, query, signal })
}

/** The next times of a pattern, as RFC 3339. Rejects with the reason when the pattern or the time zone is wrong. */
export async function previewTimes(cron: string, timezone: string, signal?: AbortSignal): Promise<readonly string[]> {
  return (await api('GET /api/schedules/preview', { query: { cron, timezone }, signal })).next
}

export function createSchedule(body: Created) {
  return api('POST /api/schedules', { body })
}

export function changeSchedule(id: string, body: Changed) {
  return api('PATCH /api/schedules/{id}', { params: { id }, body })
}

export async function removeSchedule(id: string): Promise<void> {
  await api('DELETE /api/schedules/{id}', { params: { id } })
}

/** Starts a run now; returns its id. */
export async function runSchedule(id: string): Promise<string> {
  return (await api('POST /api/schedules/{id}/run', { params: { id } })).run_id
}

export async function cancelScheduleRun(id: string): Promise<void> {
  await api('POST /api/schedules/runs/{id}/cancel', { params: { id } })
}

/** Pauses all schedules, or resumes them. Every page tells of the pause at once. */
export async function pauseSchedules(paused: boolean): Promise<void> {
  await api('PUT /api/schedules', { body: { paused } })
  await readChecks()
}
