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
  /** Names the question of a sign-in or a confirmation, for the next answer. */
  challenge?: string | undefined
  /** The host’s questions besides the password. */
  prompts?: Prompt[] | undefined
  /** The kinds of second factor, one of which is asked for. */
  factors?: string[] | undefined
  /** The request options of WebAuthn, where a passkey is one of them. */
  passkey?: PasskeyRequest | undefined
  /** The id of the request in the service's log. */
  requestId?: string | undefined
  /** The number of seconds after which a retry makes sense. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** A text that the host asks for while somebody signs in. */
export interface Prompt {
  text: string
  /** Whether the answer may be seen while it is typed. */
  echo: boolean
}

/** Request options of WebAuthn, as `PublicKeyCredential.parseRequestOptionsFromJSON` takes them. */
export interface PasskeyRequest {
  challenge: string
  rpId?: string
  timeout?: number
  userVerification?: string
  allowCredentials?: { id: string; type: string; transports?: string[] }[]
}

/** The only error of this client. An aborted request rejects with the reason of its signal instead. */
export class ApiError<code extends string = string> extends Error implements Failure<code> {
  override name = 'ApiError'
  /** The operation that failed. */
  declare operation: string
  declare status: number
  declare code: code
  declare details: Detail[]
  declare findings: Finding[]
  declare destroys: string[] | undefined
  declare jobId: string | undefined
  declare challenge: string | undefined
  declare prompts: Prompt[] | undefined
  declare factors: string[] | undefined
  declare passkey: PasskeyRequest | undefined
  declare requestId: string | undefined
  declare retryAfter: number | undefined

  constructor(operation: string, { message, cause, ...failure }: Failure<code>) {
    super(message, { cause })
    Object.assign(this, { operation, details: [], findings: [] }, failure)
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
