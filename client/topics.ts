import type { Answer, Api } from './operation.ts'
import type { JobId } from './operations.ts'

/** A piece of a job's output. `seq` is where it ends, in bytes: who comes back with it as `from` misses nothing. */
export interface UpdateOutput {
  type: 'update_output'
  topic: string
  seq: number
  data: { chunk: string }
}

/** The job's last event: its command has run to its end. Its exit code is told by `GET /api/updates/jobs/{id}`. */
export interface UpdateDone {
  type: 'update_done'
  topic: string
  seq: number
  data: { job_id: JobId }
}

/** The job's last event: it could not be run, or was cancelled. */
export interface UpdateError {
  type: 'update_error'
  topic: string
  seq: number
  data: { error: string }
}

export type UpdateEvent = UpdateOutput | UpdateDone | UpdateError

/** How far a deployment has come, all of it each time; `seq` counts the lines of its log. */
export interface DeploymentEvent {
  type: 'deployment'
  topic: string
  seq: number
  data: Answer<'GET /api/registry/deployments/{id}'>
}

export type Event = UpdateEvent | DeploymentEvent

/** Where a topic is told, live and for who polls. */
export interface Source {
  path: string
  /** Said of one that is not there. */
  missing: { code: string; message: string }
  /** What has come after `at`, with the last event once there is nothing else. */
  poll(at: number, signal: AbortSignal | undefined): Promise<Event[]>
}

export function isLast(event: Event): boolean {
  if (event.type === 'deployment') return event.data.finished_at !== null
  return event.type === 'update_done' || event.type === 'update_error'
}

/** `update:<id>` or `deploy:<id>`. */
export function sourceOf(topic: string, ask: Api): Source {
  const id = topic.slice(topic.indexOf(':') + 1)
  return topic.startsWith('deploy:') ? deployment(topic, id, ask) : update(topic, id, ask)
}

function update(topic: string, id: string, ask: Api): Source {
  return {
    path: `/ws/updates/${encodeURIComponent(id)}`,
    missing: { code: 'job_missing', message: 'Cette tâche n’existe pas.' },
    async poll(at, signal) {
      const query = { offset: at }
      const piece = await ask('GET /api/updates/jobs/{id}/output', { params: { id }, query, signal })
      const { chunk, next_offset: seq, ended } = piece
      const events: Event[] = chunk ? [{ type: 'update_output', topic, seq, data: { chunk } }] : []
      if (!ended) return events
      const { status, output = '' } = await ask('GET /api/updates/jobs/{id}', { params: { id }, signal })
      // The record of a failed job tells its error; that of a cancelled one its output, whose last line says so.
      const error = output.slice(output.lastIndexOf('\n') + 1)
      return status === 'error'
        ? [...events, { type: 'update_error', topic, seq, data: { error } }]
        : [...events, { type: 'update_done', topic, seq, data: { job_id: id } }]
    },
  }
}

function deployment(topic: string, id: string, ask: Api): Source {
  return {
    path: `/ws/deployments/${encodeURIComponent(id)}`,
    missing: { code: 'deployment_missing', message: 'Cette installation n’existe pas.' },
    async poll(_, signal) {
      const data = await ask('GET /api/registry/deployments/{id}', { params: { id }, signal })
      return [{ type: 'deployment', topic, seq: data.log.length, data }]
    },
  }
}
