import { useSignal } from '@preact/signals'
import { Fingerprint, KeyRound, type IconNode, Smartphone } from 'lucide'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { ApiError, type PasskeyRequest } from '../../../client/index.ts'
import { type Assertion, askPasskey, hasPasskeys } from '../../wire/passkeys.ts'
import { Action, useAct } from '../action.tsx'
import { useCountdown } from '../countdown.ts'
import { Field, focusWrong } from '../field.tsx'
import { Icon } from '../icon.tsx'
import { FactorProblem, Locked } from './factor-problem.tsx'
import { accessWords } from './words.ts'

const KINDS = ['passkey', 'totp', 'recovery'] as const
type Kind = (typeof KINDS)[number]

const ICONS: Readonly<Record<Kind, IconNode>> = { passkey: Fingerprint, totp: Smartphone, recovery: KeyRound }

/** An answer to the question, as the service takes it. */
export type FactorAnswer =
  | { factor: 'totp' | 'recovery'; answers: string[] }
  | { factor: 'passkey'; assertion: Assertion }

interface FactorQuestionProps {
  factors: readonly string[]
  passkey: PasskeyRequest | undefined
  /** The words on the button that sends a code. */
  verb: string
  answer(given: FactorAnswer): Promise<void>
  cancel(): void
  /** Called for another question, once this one takes no answer any more. Without it, only `cancel` helps. */
  again?(): void
}

/** A refusal of so many seconds at most is of all kinds, because of too many answers in a minute. A longer one is of one kind, for an hour. */
const MINUTE = 60

/** The end of a refusal, by the clock of `performance`. */
interface Lock {
  until: number
  isOfAll: boolean
}

/** Asks for one of the user's factors; they may take another one of theirs. */
export function FactorQuestion({ factors, passkey, verb, answer, cancel, again = cancel }: FactorQuestionProps) {
  const say = accessWords().question
  const usable = KINDS.filter((kind) => factors.includes(kind) && (kind !== 'passkey' || (passkey && hasPasskeys())))
  const chosen = useSignal<Kind | undefined>(undefined)
  const kind = chosen.value ?? usable[0]
  const code = useSignal('')
  const tried = useSignal(false)
  const locks = useSignal<Partial<Record<Kind, Lock>>>({})
  const lock = kind && locks.value[kind]
  const wait = lock ? Math.max(0, Math.ceil((lock.until - performance.now()) / 1000)) : 0
  // Renders every second; the wait itself is known at once.
  useCountdown(wait, lock)
  const form = useRef<HTMLFormElement>(null)
  const left = useRef(new AbortController())
  useEffect(() => () => left.current.abort(), [])
  useLayoutEffect(() => {
    // Fields take the focus themselves.
    if (kind === 'passkey') form.current?.querySelector<HTMLElement>('.primary')?.focus()
  }, [kind])
  /** Notes a refusal that a wait ends. False for any other error. */
  const noteLock = (of: Kind, error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'factor_locked' && error.retryAfter)) return false
    const noted: Lock = { until: performance.now() + error.retryAfter * 1000, isOfAll: error.retryAfter <= MINUTE }
    const kinds = noted.isOfAll ? KINDS.filter((each) => (locks.peek()[each]?.until ?? 0) < noted.until) : [of]
    locks.value = { ...locks.peek(), ...Object.fromEntries(kinds.map((each) => [each, noted])) }
    return true
  }
  const act = useAct(async () => {
    if (kind === undefined || wait > 0) return
    await send(kind).catch((error: unknown) => {
      if (!noteLock(kind, error)) throw error
    })
  })
  const send = async (kind: Kind) => {
    if (kind !== 'passkey') {
      tried.value = true
      if (!code.value.trim()) return focusWrong(form.current)
      return answer({ factor: kind, answers: [code.value] }).catch((error: unknown) => {
        // A wrong code is wrong for good.
        if (error instanceof ApiError && error.code === 'factor_wrong') {
          code.value = ''
          tried.value = false
          form.current?.querySelector('input')?.focus()
        }
        throw error
      })
    }
    if (passkey) await answer({ factor: kind, assertion: await askPasskey(passkey, left.current.signal) })
  }
  const error = act.error.value
  const isOver = error instanceof ApiError && error.code === 'challenge_over'
  if (kind === undefined)
    return (
      <>
        <p>{say.none}</p>
        <div class="buttons">
          <button type="button" class="button" data-first onClick={cancel}>
            {say.cancel}
          </button>
        </div>
      </>
    )
  return (
    <form
      class="factor-question"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      <p class="dim">{say.tell[kind]}</p>
      {kind !== 'passkey' && (
        <Field
          key={kind}
          label={say.label[kind]}
          name="code"
          value={code}
          autoComplete={kind === 'totp' ? 'one-time-code' : 'off'}
          inputMode={kind === 'totp' ? 'numeric' : 'text'}
          autoFocus
          required
          mono
          error={tried.value && !code.value.trim() ? say.missing[kind] : undefined}
        />
      )}
      {lock && wait > 0 ? (
        <Locked wait={wait} told={lock.isOfAll ? say.lockedAll : say.lockedKind} />
      ) : (
        <FactorProblem error={error} wrong={say.wrong[kind]} />
      )}
      {isOver ? (
        <button type="button" class="button primary" onClick={again}>
          {say.again}
        </button>
      ) : (
        <Action act={act} type="submit" class="primary" blocked={wait > 0 ? say.waitFirst : undefined}>
          {kind === 'passkey' ? say.usePasskey : verb}
        </Action>
      )}
      <div class="others">
        {usable
          .filter((other) => other !== kind)
          .map((other) => (
            <button
              key={other}
              type="button"
              class="button plain"
              onClick={() => {
                act.forget()
                code.value = ''
                tried.value = false
                chosen.value = other
              }}
            >
              <Icon of={ICONS[other]} />
              {say.instead[other]}
            </button>
          ))}
        <button type="button" class="button plain" onClick={cancel}>
          {say.cancel}
        </button>
      </div>
    </form>
  )
}
