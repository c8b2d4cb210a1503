import { isAway, told } from '../nouns/failure.ts'
import { connected } from '../wire/connection.ts'
import { me } from '../wire/panel.ts'
import { fromService, words } from '../words/words.ts'
import { Status } from './status.tsx'

interface ProblemProps {
  /** Nothing is shown without one. */
  error: unknown
  /** What to do when somebody wants it tried again. */
  retry?: (() => unknown) | undefined
}

/** A failure, where it happened: what is the matter, what to do, and how to find it in the logs. */
export function Problem({ error, retry }: ProblemProps) {
  // The whole page says that the service is away.
  if (error === undefined || (me.value && !connected.value && isAway(error))) return null
  const { shell, errors } = words()
  const { sentence, reason, requestId } = told(error, errors, shell.unexpected)
  return (
    <div class="problem" role="alert">
      <Status is="err" hidden />
      <div class="grow">
        <p>{sentence}</p>
        {reason && <p class="dim">{fromService(reason)}</p>}
        {requestId && <p class="dim mono small">{shell.request(requestId)}</p>}
      </div>
      {retry && (
        <button type="button" class="button small" onClick={() => void retry()}>
          {shell.retry}
        </button>
      )}
    </div>
  )
}
