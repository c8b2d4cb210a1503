import { ArrowDown, ArrowUp, Eye, EyeOff } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/words.ts'

export const CARDS = ['containers', 'jobs', 'host', 'shortcuts'] as const
export type CardId = (typeof CARDS)[number]

interface CardFrameProps {
  id: CardId
  edits: boolean
  first: boolean
  last: boolean
  move(by: -1 | 1): void
  hide(): void
  children: ComponentChildren
}

/** A card with its heading, and with the arranging buttons while the user arranges the dashboard. */
export function CardFrame({ id, edits, first, last, move, hide, children }: CardFrameProps) {
  const say = words().dashboard
  const name = say[id]
  return (
    <section class={`card ${id}`} aria-label={name}>
      <header>
        <h2>{name}</h2>
        {edits && (
          <>
            <button
              type="button"
              class="button small"
              aria-label={say.up(name)}
              disabled={first}
              data-edit={`-1 ${id}`}
              onClick={() => move(-1)}
            >
              <Icon of={ArrowUp} />
            </button>
            <button
              type="button"
              class="button small"
              aria-label={say.down(name)}
              disabled={last}
              data-edit={`1 ${id}`}
              onClick={() => move(1)}
            >
              <Icon of={ArrowDown} />
            </button>
            <button
              type="button"
              class="button small"
              aria-label={say.hide(name)}
              data-edit={`hide ${id}`}
              onClick={hide}
            >
              <Icon of={EyeOff} />
            </button>
          </>
        )}
      </header>
      {children}
    </section>
  )
}

interface HiddenCardsProps {
  hidden: readonly CardId[]
  show(id: CardId): void
}

/** The hidden cards, each with a button that shows it again. */
export function HiddenCards({ hidden, show }: HiddenCardsProps) {
  const say = words().dashboard
  if (hidden.length === 0) return null
  return (
    <section class="hidden-cards" aria-label={say.hidden}>
      <h2>{say.hidden}</h2>
      {hidden.map((id) => (
        <button
          key={id}
          type="button"
          class="button small"
          aria-label={say.show(say[id])}
          data-edit={`show ${id}`}
          onClick={() => show(id)}
        >
          <Icon of={Eye} />
          {say[id]}
        </button>
      ))}
    </section>
  )
}
