import type { IconNode } from 'lucide'
import { h } from 'preact'

/** An icon beside a word; hidden from screen readers because the word says the same. */
export function Icon({ of }: { of: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  )
}
