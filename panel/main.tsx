import { effect } from '@preact/signals'
import { render } from 'preact'
import { ApiError } from '../client/index.ts'
import { PAGES } from './pages.ts'
import { lazy } from './parts/lazy.tsx'
import { Problem } from './parts/problem.tsx'
import { Missing, Shell, StepUp } from './parts/shell.tsx'
import { Toasts, toast } from './parts/toast.tsx'
import { remembered, show } from './preferences.ts'
import { go, route, startRouter } from './router.ts'
import { connected, reconnects } from './wire/connection.ts'
import { api, enrolling, me, resume } from './wire/panel.ts'
import { isAskedToConfirm } from './wire/step-up.ts'
import { words } from './words/words.ts'

const MustEnrol = lazy(async () => (await import('./pages/enrol/must-enrol.tsx')).MustEnrol)

const root = document.getElementById('panel')

/** Shows sign-in or setup to visitors, and the whole panel to signed-in users. */
function Panel() {
  const page = route.value?.page
  if (me.value && page !== 'enrol') return <Shell />
  const { Content } = PAGES[page === 'setup' || page === 'enrol' || page === 'oidc' ? page : 'signIn']
  const isEnrolling = enrolling.value && page !== 'enrol'
  return (
    <>
      <main class="alone">{isEnrolling ? <MustEnrol /> : page ? <Content /> : <Missing />}</main>
      {isAskedToConfirm.value && <StepUp />}
      <Toasts />
    </>
  )
}

/** Applies the preferences of the signed-in user, and stores them for the next sign-in in this browser. */
effect(() => {
  const known = me.value ?? enrolling.value
  if (known) void show({ lang: known.lang, theme: known.theme })
})

/** After a sign-in, the user returns to the page where the session ended; the sign-in and setup pages lead to the dashboard. */
effect(() => {
  const page = route.value?.page
  if (me.value && (page === 'signIn' || page === 'setup' || page === 'oidc')) go('/', { replace: true })
})

reconnects.subscribe((times) => {
  if (times > 0) toast(words().shell.back)
})

/** Resumes the session, or opens setup on a new installation. Retries when the service does not answer. */
async function start(): Promise<void> {
  if (!root) return
  try {
    if (!(await resume())) {
      const { installed } = await api('GET /api/install/status')
      if (!installed) go(`/setup${location.hash}`, { replace: true })
      else if (route.value?.page === 'setup') go('/sign-in', { replace: true })
    }
  } catch (error) {
    render(
      <main class="alone">
        <Problem error={error} retry={start} />
      </main>,
      root,
    )
    if (error instanceof ApiError && error.retryAfter) {
      setTimeout(() => void start(), error.retryAfter * 1000)
      return
    }
    const stop = connected.subscribe((answers) => {
      if (!answers) return
      queueMicrotask(() => stop())
      void start()
    })
    return
  }
  render(<Panel />, root)
}

startRouter()
await show(remembered())
void start()
