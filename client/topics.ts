import type { Answer, Api } from './operation.ts'
import type { JobId } from './operations.ts'

/** A piece of a job's output. `seq` is the byte offset of its end: following again with `from: seq` misses nothing. */
export interface UpdateOutput {
  type: 'update_output'
  topic: string
  seq: number
  data: { chunk: string }
}

/** A protected upgrade or a rollback begins a phase. `seq` is that of the output before it. */
export interface UpdatePhase {
  type: 'update_phase'
  topic: string
  seq: number
  data: { phase: string }
}

/** The last event of a job whose command ran to its end. `GET /api/updates/jobs/{id}` has the exit code. */
export interface UpdateDone {
  type: 'update_done'
  topic: string
  seq: number
  data: { job_id: JobId }
}

/** The last event of a job that could not run, or was cancelled. */
export interface UpdateError {
  type: 'update_error'
  topic: string
  seq: number
  data: { error: string }
}

export type UpdateEvent = UpdateOutput | UpdatePhase | UpdateDone | UpdateError

/** The whole state of a deployment; `seq` counts the lines of its log. */
export interface DeploymentEvent {
  type: 'deployment'
  topic: string
  seq: number
  data: Answer<'GET /api/registry/deployments/{id}'>
}

export type Event = UpdateEvent | DeploymentEvent

/** The live and the polled address of a topic. */
export interface Source {
  path: string
  /** The error for a topic that does not exist. */
  missing: { code: string; message: string }
  /** Returns what came after `at`, followed by the last event once there is nothing else. */
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
      // The output of a failed job is its error; the last line of a cancelled job's output names who cancelled it.
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
