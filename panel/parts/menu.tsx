import { Ellipsis } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface MenuProps {
  /** The accessible name of the button, which shows three dots. */
  label: string
  /** Buttons and links. */
  children: ComponentChildren
}

/** A menu behind a button. A press elsewhere, Escape or a choice closes it. */
export function Menu({ label, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const place = useCallback(() => {
    if (!button.current || !list.current) return
    const { right, bottom, top } = button.current.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = list.current
    const isBelow = bottom + height + 8 < innerHeight
    list.current.style.left = `${Math.max(8, right - width)}px`
    list.current.style.top = `${Math.max(8, isBelow ? bottom + 4 : top - height - 4)}px`
  }, [])
  useEffect(() => () => removeEventListener('resize', place), [])
  return (
    <>
      <button type="button" class="button plain" ref={button} aria-label={label} popovertarget={id}>
        <Icon of={Ellipsis} />
      </button>
      <div
        id={id}
        ref={list}
        class="menu"
        popover="auto"
        onToggle={({ newState }) => {
          if (newState !== 'open') return removeEventListener('resize', place)
          place()
          addEventListener('resize', place)
          list.current?.querySelector<HTMLElement>('button, a')?.focus()
        }}
        onClickCapture={() => {
          list.current?.hidePopover()
          button.current?.focus()
        }}
      >
        {children}
      </div>
    </>
  )
}
