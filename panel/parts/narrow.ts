import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Whether an element is narrower than this many pixels: what stands beside something then stands in front of it, for the keyboard too. */
export function useNarrow(place: RefObject<HTMLElement | null>, below: number): boolean {
  const isNarrow = useSignal(false)
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const measure = () => {
      isNarrow.value = element.getBoundingClientRect().width < below
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return isNarrow.value
}
