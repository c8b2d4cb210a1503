import { ApiError } from '../../../client/index.ts'
import { PasskeyError } from '../../wire/passkeys.ts'
import { words } from '../../words/words.ts'
import { useCountdown } from '../countdown.ts'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { accessWords } from './words.ts'

/** An error of a sign-in, a confirmation or an enrolment: of the service, with its wait, or of the browser's passkeys. */
export function FactorProblem({ error }: { error: unknown }) {
  const say = accessWords().question
  const wait = useCountdown(error instanceof ApiError ? (error.retryAfter ?? 0) : 0, error)
  if (error instanceof PasskeyError)
    return (
      <div class="problem" role="alert">
        <Status is="warn" hidden />
        <p class="grow">{say.passkeyFailed[error.why]}</p>
      </div>
    )
  return (
    <>
      <Problem error={error} />
      {wait > 0 && (
        <p class="dim num">{wait > 120 ? say.againMinutes(Math.ceil(wait / 60)) : words().signIn.again(wait)}</p>
      )}
    </>
  )
}
