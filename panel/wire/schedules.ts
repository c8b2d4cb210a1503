import type { Answer, Input } from '../../client/index.ts'
import { readChecks } from './checks.ts'
import { api } from './panel.ts'

export type Schedules = Answer<'GET /api/schedules'>
type Created = Input<'POST /api/schedules'>['body']
type Changed = Input<'PATCH /api/schedules/{id}'>['body']

export function readSchedules(signal?: AbortSignal): Promise<Schedules> {
  return api('GET /api/schedules', { signal })
}

export function readSchedule(id: string, signal?: AbortSignal) {
  return api('GET /api/schedules/{id}', { params: { id }, signal })
}

export function readScheduleRun(id: string, signal?: AbortSignal) {
  return api('GET /api/schedules/runs/{id}', { params: { id }, signal })
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
