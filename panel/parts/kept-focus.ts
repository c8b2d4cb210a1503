import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** When a button that has the focus goes away from inside `place`, that takes the focus itself: nobody is thrown back to the page's top. */
export function useKeptFocus(place: RefObject<HTMLElement | null>): void {
  const had = useRef(false)
  // What is in the page while this is rendered is still what was there before.
  had.current = place.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (had.current && !place.current?.contains(document.activeElement)) place.current?.focus()
  })
}
