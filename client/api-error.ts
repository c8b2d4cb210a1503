import type { Code, Operation } from './operation.ts'
import type { Detail, Operations } from './operations.ts'

type Finding = Operations['GET /api/updates/checks']['answer']['checks'][number]['findings'][number]

export interface Failure<code extends string = string> {
  /** HTTP status; 0 when there was no answer. */
  status: number
  code: code
  /** A French sentence for people. */
  message: string
  /** The rejected fields of a request. */
  details?: Detail[]
  /** The findings that stand in the way of a plan of an upgrade. */
  findings?: Finding[] | undefined
  /** The volumes that the restoration of a backup would destroy, each as `mp0 (/srv)`, where the request did not want that. */
  destroys?: string[] | undefined
  /** The job that runs or waits already, in the place of the one that was asked for. */
  jobId?: string | undefined
  /** The id of the request in the service's log. */
  requestId?: string | undefined
  /** The number of seconds after which a retry makes sense. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** The only error of this client. An aborted request rejects with the reason of its signal instead. */
export class ApiError<code extends string = string> extends Error implements Failure<code> {
  override name = 'ApiError'
  /** The operation that failed. */
  operation: string
  status: number
  code: code
  details: Detail[]
  findings: Finding[]
  destroys: string[] | undefined
  jobId: string | undefined
  requestId: string | undefined
  retryAfter: number | undefined

  constructor(operation: string, failure: Failure<code>) {
    const {
      message,
      status,
      code,
      details = [],
      findings = [],
      destroys,
      jobId,
      requestId,
      retryAfter,
      cause,
    } = failure
    super(message, { cause })
    this.operation = operation
    this.status = status
    this.code = code
    this.details = details
    this.findings = findings
    this.destroys = destroys
    this.jobId = jobId
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

/** Narrows an error to one operation, whose codes are then known, so that a `switch` can be exhaustive. */
export function isFailure<operation extends Operation>(
  error: unknown,
  operation: operation,
): error is ApiError<Code<operation>> {
  return error instanceof ApiError && error.operation === operation
}

/** Whether a retry may succeed a little later. */
export function isTransient(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500 || [408, 429].includes(error.status))
}
