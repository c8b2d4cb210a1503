import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { visits } from '../router.ts'
import { hostname } from '../wire/host.ts'
import { words } from '../words/words.ts'

interface HeadingProps {
  title: string
  /** A note beside the title about the current state. */
  note?: ComponentChildren
  /** Actions at the right, the primary one last. */
  children?: ComponentChildren
}

/** The only `h1` of a page. It sets the window title and takes the focus after a navigation, so that screen readers start there. */
export function Heading({ title, note, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const name = words().shell.titleOf(title, hostname.value ?? words().shell.product)
  useEffect(() => {
    document.title = name
  }, [name])
  useEffect(() => {
    // The first page keeps the browser's own starting point.
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
