import type { IconNode } from 'lucide'
import { h } from 'preact'

/** A drawing beside a word, which says the same: not for screen readers. */
export function Icon({ of }: { of: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  )
}
