import type { ComponentChildren } from 'preact'

interface BlockableButtonProps {
  /** Also `primary`, `small`, `plain`. */
  class?: string
  label?: string
  /** The reason why it cannot be pressed now; its title says it. */
  blocked: string | undefined
  press(): void
  children: ComponentChildren
}

/** A button that keeps its place and its focus while it cannot be pressed. */
export function BlockableButton({ class: kind = '', label, blocked, press, children }: BlockableButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-label={label}
      aria-disabled={blocked !== undefined}
      title={blocked}
      onClick={() => blocked === undefined && press()}
    >
      {children}
    </button>
  )
}
