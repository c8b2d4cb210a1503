import { StorageError } from '../db/client.ts'
import { AnswerTooLong } from './channel.ts'
import { Failure, ForeignPage } from './errors.ts'
import type { Log } from './log.ts'
import { SshError } from './ssh-connection.ts'

/** The failure that a caller is told of for whatever was thrown: the unknown is `internal`, with nothing of its cause. */
export function translate(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StorageError) return new Failure('storage_failed', { cause: error })
  if (error instanceof AnswerTooLong)
    return new Failure('host_answer_too_long', { cause: error, values: { message: error.message } })
  if (error instanceof SshError) return new Failure('ssh_failed', { cause: error, values: { message: error.message } })
  return new Failure('internal', { cause: error })
}

/** Whether it should not happen. A 501 or 503 without a cause is what the service means to answer. */
export function isFault({ status, cause }: Failure): boolean {
  return status >= 500 && !((status === 501 || status === 503) && cause === undefined)
}

/**
 * One line about a refused request: the stack only of what should not happen, one sentence of what the host said.
 */
export function logRefusal(log: Log, request: Record<string, unknown>, failure: Failure): void {
  const { code, details, cause } = failure
  const entry = { ...request, code, ...(details && { details }) }
  if (cause instanceof SshError) log.warn({ ...entry, reason: cause.message }, 'request failed at the host')
  else if (cause instanceof ForeignPage) log.warn({ ...entry, origin: cause.origin }, cause.message)
  else if (isFault(failure)) log.error({ ...entry, err: cause }, 'request failed')
  else log.info(entry, 'request refused')
}
