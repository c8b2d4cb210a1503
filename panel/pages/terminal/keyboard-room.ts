import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** A keyboard on the screen takes at least so much of it; the bars of a browser that come and go take less. */
const KEYBOARD_PX = 120

/** Makes `page` so high that it ends above the keyboard of a phone, which lies over the page without it knowing. */
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
