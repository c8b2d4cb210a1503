import { computed, signal } from '@preact/signals'
import { type PageName, ROUTES } from './routes.ts'

export interface Route {
  page: PageName
  /** The values of placeholders such as `:job`. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
}

const address = signal(here())
/** Counts navigations, so that the same page with another query mounts again. */
export const visits = signal(0)

/** Whether somebody has navigated inside the panel: before, the address may be a link from anyone. A sign-in is no navigation. */
export let isNavigated = false

/** The current route; undefined for an unknown address. */
export const route = computed(() => match(address.value))

/** Decides whether the page may be left. A guard that returns false asks the user itself and calls `go` later. */
type Guard = (go: () => void) => boolean
let guard: Guard | undefined

/** Something that is open over the page, with an entry of its own in the history. */
interface Cover {
  close(): void
}
let cover: Cover | undefined
/** The work that waits until the entry of a cover is gone from the history; undefined while none is going. */
let waiting: (() => void)[] | undefined

/**
 * Gives something that opens over the page an entry in the history, so that the way back closes it and leaves the page where it is. Call the
 * returned function when it has closed in another way.
 */
export function coverPage(close: () => void): () => void {
  const own = { close }
  afterReturn(() => {
    cover = own
    history.pushState({ isCover: true }, '')
  })
  return () => {
    afterReturn(() => {
      if (cover !== own) return
      cover = undefined
      // A navigation has taken the place of the entry.
      if (!isAtCover()) return
      waiting = []
      history.back()
    })
  }
}

function isAtCover(): boolean {
  return history.state?.isCover === true
}

/** Changes the history once it is at rest: a step back takes a moment. */
function afterReturn(change: () => void): void {
  if (waiting) waiting.push(change)
  else change()
}

function here(): string {
  return location.pathname + location.search
}

/** Matches an address to a page. */
export function match(to: string): Route | undefined {
  // Resolved against the origin, `//host/path` would be an address of another host.
  const { pathname, searchParams: query } = new URL(location.origin + to)
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

/** Navigates to an address of the panel. `replace` removes the current entry from the history. */
export function go(to: string, { replace = false } = {}): void {
  const leave = () =>
    afterReturn(() => {
      if (replace || isAtCover()) history.replaceState(null, '', to)
      else history.pushState(null, '', to)
      arrive()
    })
  if (replace || !guard || guard(leave)) leave()
}

/**
 * Changes values in the query of the current address, so that a reload and the way back lead to the same view; undefined removes one. It is no
 * navigation: the page stays, and the history gets no entry.
 */
export function keepInQuery(values: Readonly<Record<string, string | undefined>>): void {
  if (waiting) return void waiting.push(() => keepInQuery(values))
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  const search = query.size > 0 ? `?${query}` : ''
  if (search === location.search) return
  history.replaceState(history.state, '', location.pathname + search)
  address.value = here()
}

/** Lets `ask` guard the page until the returned function is called. Closing the window asks too. */
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
  isNavigated = true
  visits.value = visits.peek() + 1
}

/** Handles links to the panel's own pages without a reload. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    if (waiting) {
      const changes = waiting
      waiting = undefined
      for (const change of changes) afterReturn(change)
      return
    }
    if (cover && !isAtCover()) {
      const { close } = cover
      cover = undefined
      close()
    }
    const to = here()
    // A change of `#` within a page is not a navigation.
    if (to === address.peek()) return
    const leave = () => {
      history.replaceState(null, '', to)
      arrive()
    }
    if (!guard) return arrive()
    // The browser has already gone back, so staying needs a step forward.
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
