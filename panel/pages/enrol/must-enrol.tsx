import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Enrolment } from '../../parts/access/enrolment.tsx'
import { accessWords } from '../../parts/access/words.ts'
import { useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { askRights, enrolling, signOut } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

/** The page of a user who must add a second factor before anything else. */
export function MustEnrol() {
  const { shell } = words()
  const { must: say, once } = accessWords()
  const showsCodes = useSignal(false)
  const title = showsCodes.value ? once.codes : say.title
  // The next token is for the whole panel.
  const enter = useAct(askRights)
  const heading = useRef<HTMLHeadingElement>(null)
  // The form of the sign-in is gone, and the focus with it.
  useLayoutEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    document.title = shell.titleOf(title, shell.product)
  }, [title])
  return (
    <div class="sign-in enrol">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {!showsCodes.value && <p class="dim">{say.why(enrolling.value?.username ?? '')}</p>}
      <Enrolment
        stored={(withCodes) => {
          showsCodes.value = withCodes
        }}
        done={() => void enter.run()}
      />
      <Problem error={enter.error.value} retry={enter.run} />
      <button type="button" class="button plain" onClick={() => void signOut()}>
        {shell.signOut}
      </button>
    </div>
  )
}
