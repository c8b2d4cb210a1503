import type { Code, Operation } from './operation.ts'
import type { Detail } from './operations.ts'

export interface Failure<code extends string = string> {
  /** Of HTTP; 0 when nothing has answered. */
  status: number
  code: code
  /** A French sentence for people. */
  message: string
  /** The fields of a rejected request. */
  details?: Detail[]
  /** Under which the service's log knows the request. */
  requestId?: string | undefined
  /** Seconds after which the request is worth repeating. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** The one error of this client. An aborted request is none: it rejects with the reason of its signal. */
export class ApiError<code extends string = string> extends Error implements Failure<code> {
  override name = 'ApiError'
  /** What was asked for. */
  operation: string
  status: number
  code: code
  details: Detail[]
  requestId: string | undefined
  retryAfter: number | undefined

  constructor(operation: string, { message, status, code, details = [], requestId, retryAfter, cause }: Failure<code>) {
    super(message, { cause })
    this.operation = operation
    this.status = status
    this.code = code
    this.details = details
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

/** Whether an operation has failed; its code is one of the operation's then, so that a `switch` can be exhaustive. */
export function isFailure<operation extends Operation>(
  error: unknown,
  operation: operation,
): error is ApiError<Code<operation>> {
  return error instanceof ApiError && error.operation === operation
}

/** Whether the same may succeed a little later. */
export function isPassing(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500 || [408, 429].includes(error.status))
}
