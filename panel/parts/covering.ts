import { useEffect } from 'preact/hooks'
import { coverPage, visits } from '../router.ts'

/** Something that is open over the page. */
interface Covering {
  /** Closes it without a result. */
  answer(started: undefined): void
}

/** Gives what is open an entry in the history while it is open, and closes it when one of its links leads away. */
export function useCovering(open: Covering | undefined): void {
  useEffect(() => {
    if (!open) return
    const at = visits.peek()
    const uncover = coverPage(() => open.answer(undefined))
    const leave = visits.subscribe((now) => {
      if (now !== at) open.answer(undefined)
    })
    return () => {
      leave()
      uncover()
    }
  }, [open])
}
