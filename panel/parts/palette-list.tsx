import { pieces, type Range } from '../nouns/match.ts'
import type { Found } from '../nouns/ranking.ts'
import { words } from '../words/words.ts'
import { Icon } from './icon.tsx'
import type { Command } from './palette-commands.ts'

/** A titled group of commands. */
export interface Group {
  name: string
  /** The kind that all commands of the group share. */
  kind?: Command['kind']
  found: readonly Found<Command>[]
}

interface PaletteListProps {
  id: string
  groups: readonly Group[]
  /** The index of the selected option across all groups. */
  current: number
  move(to: number): void
  choose(command: Command): void
}

/** The options. The focus stays in the search field, whose `aria-activedescendant` names the selected option. */
export function PaletteList({ id, groups, current, move, choose }: PaletteListProps) {
  const say = words().palette
  let n = -1
  return (
    <div id={id} role="listbox" tabIndex={-1} aria-label={say.results}>
      {groups.map(({ name, kind, found }, group) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields.
        <div key={name} role="group" aria-labelledby={`${id}-group-${group}`}>
          <p id={`${id}-group-${group}`} class={groups.length === 1 ? 'unseen' : 'group dim'}>
            {name}
          </p>
          {found.map((each) => {
            n += 1
            const place = n
            return (
              <Option
                key={each.of.id}
                id={`${id}-${place}`}
                found={each}
                isCurrent={place === current}
                kind={kind ? undefined : say.kinds[each.of.kind]}
                move={() => move(place)}
                choose={() => choose(each.of)}
              />
            )
          })}
        </div>
      ))}
    </div>
  )
}

interface OptionProps {
  id: string
  found: Found<Command>
  isCurrent: boolean
  /** Shown when the group title does not say it. */
  kind: string | undefined
  move(): void
  choose(): void
}

function Option({ id, found: { of, inTitle, inMore }, isCurrent, kind, move, choose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the search has the focus, and Enter chooses there.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the focus, and Enter chooses there.
    <div id={id} role="option" aria-selected={isCurrent} onPointerMove={move} onClick={choose}>
      {of.icon && <Icon of={of.icon} />}
      <span class="grow">
        <Marked text={of.title} ranges={inTitle} />
        {of.more && (
          <span class="dim more">
            <Marked text={of.more} ranges={inMore} />
          </span>
        )}
      </span>
      {kind && <span class="dim kind">{kind}</span>}
    </div>
  )
}

function Marked({ text, ranges }: { text: string; ranges: readonly Range[] }) {
  return (
    <>
      {pieces(text, ranges).map(({ text: piece, marked }, n) => {
        const key = `${n}`
        return marked ? <mark key={key}>{piece}</mark> : piece
      })}
    </>
  )
}
