import { useEffect, useMemo } from 'preact/hooks'
import { accessWords } from '../parts/access/words.ts'
import { useAct } from '../parts/action.tsx'
import { Problem } from '../parts/problem.tsx'
import { go } from '../router.ts'
import { api, asksMore } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { enter } from './sign-in/enter.ts'
import { takeRequest } from './sign-in/oidc-request.ts'

/** Reads what the provider says, and removes it from the address bar. */
function answerOfAddress(): string {
  const answer = location.search
  history.replaceState(null, '', location.pathname)
  return answer
}

/** Where the provider sends people back: ends their sign-in. */
export function OidcPage() {
  const { shell } = words()
  const say = accessWords().oidc
  const { answer, challenge } = useMemo(() => ({ answer: answerOfAddress(), challenge: takeRequest() }), [])
  const act = useAct(async () => {
    if (challenge === undefined) return
    await enter(() => api('POST /api/auth/oidc/answer', { body: { challenge, answer } }))
    // The page of the sign-in asks for the second factor.
    if (asksMore.peek()) go('/sign-in', { replace: true })
  })
  useEffect(() => void act.run(), [])
  useEffect(() => {
    document.title = shell.titleOf(say.title, shell.product)
  }, [say.title])
  return (
    <div class="sign-in">
      <h1 tabIndex={-1}>{say.title}</h1>
      <p role="status">{act.busy.value ? say.underWay : challenge === undefined ? say.unasked : ''}</p>
      <Problem error={act.error.value} />
      {!act.busy.value && (
        <p>
          <a href="/sign-in">{say.again}</a>
        </p>
      )}
    </div>
  )
}
