import { effect } from '@preact/signals'
import { render } from 'preact'
import { ApiError } from '../client/index.ts'
import { PAGES } from './pages.ts'
import { Problem } from './parts/problem.tsx'
import { Missing, Shell } from './parts/shell.tsx'
import { Toasts, toast } from './parts/toast.tsx'
import { remembered, show } from './preferences.ts'
import { go, route, startRouter } from './router.ts'
import { connected, returns } from './wire/connection.ts'
import { api, me, resume } from './wire/panel.ts'
import { words } from './words/words.ts'

const root = document.getElementById('panel')

/** What is there for who is not signed in; else everything. */
function Panel() {
  const page = route.value?.page
  if (me.value) return <Shell />
  const { Content } = PAGES[page === 'setup' ? 'setup' : 'signIn']
  return (
    <>
      <main class="alone">{page ? <Content /> : <Missing />}</main>
      <Toasts />
    </>
  )
}

/** The preferences of who is signed in are shown, and remembered for the next sign-in in this browser. */
effect(() => {
  if (me.value) void show({ lang: me.value.lang, theme: me.value.theme })
})

/** Where one was when the session ended is where the next sign-in leads; nowhere else is asked to sign in. */
effect(() => {
  const page = route.value?.page
  if (me.value && (page === 'signIn' || page === 'setup')) go('/', { replace: true })
})

returns.subscribe((times) => {
  if (times > 0) toast(words().shell.back)
})

/** Takes up the session, or sends a newcomer to the wizard. Tried again when the service does not answer. */
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
