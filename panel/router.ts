import { computed, signal } from '@preact/signals'
import { type PageName, ROUTES } from './routes.ts'

export interface Route {
  page: PageName
  /** What the address says in the place of `:job`. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
}

const address = signal(here())
/** Counts navigations: a page that is left for itself, with another query, begins anew. */
export const visits = signal(0)

/** Where one is; undefined at an address that is none of the panel's. */
export const route = computed(() => match(address.value))

/** May a page be left? Asked before each navigation; one that has something to lose says no, and asks people itself. */
type Guard = (go: () => void) => boolean
let guard: Guard | undefined

function here(): string {
  return location.pathname + location.search
}

/** The page of an address. */
export function match(to: string): Route | undefined {
  const { pathname, searchParams: query } = new URL(to, location.origin)
  const steps = pathname.split('/')
  for (const { page, path } of ROUTES) {
    const expected = path.split('/')
    if (expected.length !== steps.length) continue
    const params: Record<string, string> = {}
    const matches = expected.every((step, n) => {
      const given = steps[n] ?? ''
      if (!step.startsWith(':')) return step === given
      params[step.slice(1)] = decode(given)
      return given !== ''
    })
    if (matches) return { page, params, query }
  }
  return undefined
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Goes to an address of the panel. With `replace`, going back does not lead here again. */
export function go(to: string, { replace = false } = {}): void {
  const leave = () => {
    if (replace) history.replaceState(null, '', to)
    else history.pushState(null, '', to)
    arrive()
  }
  if (replace || !guard || guard(leave)) leave()
}

/** Has `ask` decide whether the page may be left, until what is returned is called. Closing the window asks too. */
export function guardLeaving(ask: Guard): () => void {
  const closing = (event: BeforeUnloadEvent) => event.preventDefault()
  guard = ask
  addEventListener('beforeunload', closing)
  return () => {
    if (guard === ask) guard = undefined
    removeEventListener('beforeunload', closing)
  }
}

function arrive(): void {
  address.value = here()
  visits.value = visits.peek() + 1
}

/** Follows links to the panel's own pages without loading it anew. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    const to = here()
    // Not for a step within a page, by `#`.
    if (to === address.peek()) return
    const leave = () => {
      history.replaceState(null, '', to)
      arrive()
    }
    if (!guard) return arrive()
    // The step is taken already: one stays by a step back to here.
    history.pushState(null, '', address.peek())
    if (guard(leave)) leave()
  })
  document.addEventListener('click', (event) => {
    const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event
    const link = target instanceof Element ? target.closest('a') : null
    if (!link || event.defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return
    const to = link.pathname + link.search
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin || link.hash) return
    if (!match(to)) return
    event.preventDefault()
    go(to)
  })
}
