import { ApiError } from '../../../client/index.ts'
import { PasskeyError } from '../../wire/passkeys.ts'
import { words } from '../../words/words.ts'
import { useCountdown } from '../countdown.ts'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { accessWords } from './words.ts'

interface FactorProblemProps {
  error: unknown
  /** The sentence about a wrong answer, where the general one would mislead. */
  wrong?: string | undefined
}

/** An error of a sign-in, a confirmation or an enrolment: of the service, with its wait, or of the browser's passkeys. */
export function FactorProblem({ error, wrong }: FactorProblemProps) {
  const say = accessWords().question
  const wait = useCountdown(error instanceof ApiError ? (error.retryAfter ?? 0) : 0, error)
  const isWrong = error instanceof ApiError && error.code === 'factor_wrong'
  const told = error instanceof PasskeyError ? say.passkeyFailed[error.why] : isWrong ? wrong : undefined
  if (told !== undefined)
    return (
      <div class="problem" role="alert">
        <Status is={isWrong ? 'err' : 'warn'} hidden />
        <p class="grow">{told}</p>
      </div>
    )
  return (
    <>
      <Problem error={error} />
      <Wait seconds={wait} />
    </>
  )
}

/** A refusal that a wait ends. */
export function Locked({ told, wait }: { told: string; wait: number }) {
  return (
    <>
      <div class="problem" role="alert">
        <Status is="warn" hidden />
        <p class="grow">{told}</p>
      </div>
      <Wait seconds={wait} />
    </>
  )
}

function Wait({ seconds }: { seconds: number }) {
  const say = accessWords().question
  if (seconds === 0) return null
  return (
    <p class="dim num">{seconds > 120 ? say.againMinutes(Math.ceil(seconds / 60)) : words().signIn.again(seconds)}</p>
  )
}
