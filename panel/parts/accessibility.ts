import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** When the focused button inside `place` disappears, `place` takes the focus, so that it does not fall back to the top of the page. */
export function useKeptFocus(place: RefObject<HTMLElement | null>): void {
  const had = useRef(false)
  // During rendering the page still contains the previous elements.
  had.current = place.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    const { activeElement, body } = document
    // Not where the press has moved the focus elsewhere meanwhile.
    if (had.current && (!activeElement || activeElement === body)) place.current?.focus()
  })
}

/** Limits how often screen readers announce changing text. */
const PAUSE_MS = 5_000

/** Returns the newest text at intervals, for screen readers. */
export function useSpoken(text: string): string {
  const [spoken, speak] = useState('')
  const newest = useRef(text)
  newest.current = text
  useEffect(() => {
    const timer = setInterval(() => speak(newest.current), PAUSE_MS)
    return () => clearInterval(timer)
  }, [])
  return spoken
}
