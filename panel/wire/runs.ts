import type { Answer } from '../../client/index.ts'
import { api } from './panel.ts'

/** Several upgrades that were started together. */
export type Run = Answer<'GET /api/updates/runs/{id}'>

/** Reads a run with its jobs, in the order in which they were started. */
export function readRun(id: string, signal: AbortSignal): Promise<Run> {
  return api('GET /api/updates/runs/{id}', { params: { id }, signal })
}
