import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiError } from '../../client/index.ts'
import { describeError, isAway, isHostAway } from '../nouns/failure.ts'
import { rebooting } from '../wire/absence.ts'
import { connected } from '../wire/connection.ts'
import { isUnconfirmed, me } from '../wire/panel.ts'
import { fromService, laterErrors, loadErrors, words } from '../words/words.ts'
import { Status } from './status.tsx'

interface ProblemProps {
  /** Without an error, nothing is shown. */
  error: unknown
  /** Called by the retry button. */
  retry?: (() => unknown) | undefined
  /** More buttons. */
  children?: ComponentChildren
}

/** An error where it happened: the problem, the remedy, and the request id for the logs. */
export function Problem({ error, retry, children }: ProblemProps) {
  // The shell already reports that the service is away, or that the host reboots.
  const isTold = me.value && ((!connected.value && isAway(error)) || (rebooting.value && isHostAway(error)))
  const { shell, errors } = words()
  const isRare = error instanceof ApiError && !Object.hasOwn(errors, error.code)
  const known = isRare ? laterErrors() : errors
  useEffect(() => {
    if (!known) void loadErrors()
  }, [known])
  if (error === undefined || isTold || !known) return null
  const { sentence, reason, requestId } = describeError(error, known, shell.unexpected)
  // The user's own choice is no error, and nothing to look up.
  const isDeclined = isUnconfirmed(error)
  return (
    <div class={`problem${isDeclined ? ' notice' : ''}`} role={isDeclined ? 'status' : 'alert'}>
      <Status is={isDeclined ? 'info' : 'err'} hidden />
      <div class="grow">
        <p>{sentence}</p>
        {reason && <p class="dim">{fromService(reason)}</p>}
        {requestId && !isDeclined && <p class="dim mono small">{shell.request(requestId)}</p>}
      </div>
      {retry && (
        <button type="button" class="button small" onClick={() => void retry()}>
          {shell.retry}
        </button>
      )}
      {children}
    </div>
  )
}
