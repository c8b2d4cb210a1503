import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Act } from '../action.tsx'

/** The action that adds entries to a list of `count`. It moves the focus to the first one that comes: with the last ones, its button goes. */
export function useMore<list extends HTMLElement>(
  act: Act<[]>,
  count: number,
): { more: Act<[]>; list: RefObject<list | null> } {
  const list = useRef<list>(null)
  /** As many were there when somebody asked for more. */
  const before = useRef<number>(undefined)
  // Before the paint: the next key goes to what is new.
  useLayoutEffect(() => {
    const from = before.current
    if (from === undefined || count <= from) return
    before.current = undefined
    list.current?.children.item(from)?.querySelector('a')?.focus()
  }, [count])
  const more: Act<[]> = {
    ...act,
    async run() {
      before.current = count
      await act.run()
      if (act.error.peek() !== undefined) before.current = undefined
    },
  }
  return { more, list }
}
