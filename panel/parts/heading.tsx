import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { visits } from '../router.ts'
import { hostname } from '../wire/host.ts'
import { words } from '../words/words.ts'

interface HeadingProps {
  title: string
  /** Beside the title: what the page is about right now. */
  note?: ComponentChildren
  /** At the right: actions, the primary one last. */
  children?: ComponentChildren
}

/** The page's one `h1`. It names the window, and takes the focus after a navigation, so that reading begins there. */
export function Heading({ title, note, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const name = words().shell.titleOf(title, hostname.value ?? words().shell.product)
  useEffect(() => {
    document.title = name
  }, [name])
  useEffect(() => {
    // Not at the first page: there it begins at the top by itself.
    if (visits.peek() > 0) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header class="head">
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {note && <p class="note dim">{note}</p>}
      <div class="actions">{children}</div>
    </header>
  )
}
