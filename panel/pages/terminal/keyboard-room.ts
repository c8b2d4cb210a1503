import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** The smallest height of an on-screen keyboard; browser bars that come and go are smaller. */
const KEYBOARD_PX = 120

/** Ends `page` above the on-screen keyboard, which covers the page without resizing it. */
export function useKeyboardRoom(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const seen = window.visualViewport
    if (!seen) return
    const fit = () => {
      if (!page.current) return
      const isUp = innerHeight - seen.height * seen.scale > KEYBOARD_PX
      const top = page.current.getBoundingClientRect().top + scrollY
      page.current.style.height = isUp ? `${Math.floor(seen.height - top)}px` : ''
      if (isUp) scrollTo(0, 0)
    }
    seen.addEventListener('resize', fit)
    return () => seen.removeEventListener('resize', fit)
  }, [])
}
