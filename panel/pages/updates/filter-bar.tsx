import { type Signal, useSignal } from '@preact/signals'
import { Search } from 'lucide'
import { useEffect } from 'preact/hooks'
import type { Check } from '../../nouns/checked.ts'
import { type Filter, FILTERS, passes, type Sort, SORTS } from '../../nouns/target-list.ts'
import { needSaid } from '../../parts/access/reach.tsx'
import { Icon } from '../../parts/icon.tsx'
import { keepInQuery, route } from '../../router.ts'
import { words } from '../../words/words.ts'
import { LONGEST_QUERY } from './package-search.ts'

/** The choice of shown targets, and their order. */
interface View {
  query: Signal<string>
  filter: Filter
  sort: Sort
}

/** A typed word is one change of the address: browsers limit their number. */
const PAUSE_MS = 300

/** The view that the address has: a reload and the way back lead to the same one. */
export function useView(): View {
  const asked = route.value?.query
  const query = useSignal((asked?.get('q') ?? '').slice(0, LONGEST_QUERY))
  const typed = query.value
  useEffect(() => {
    const timer = setTimeout(() => keepInQuery({ q: typed || undefined }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return {
    query,
    filter: FILTERS.find((each) => each === asked?.get('show')) ?? 'all',
    sort: SORTS.find((each) => each === asked?.get('sort')) ?? 'urgency',
  }
}

interface FilterBarProps {
  view: View
  checks: readonly Check[]
  /** Whether the boxes of a narrow list are shown; undefined when nothing can be selected. */
  isPicking: boolean | undefined
  /** Shows the boxes of a narrow list, or ends the selection. */
  pick(isPicking: boolean): void
}

/** Search, filter and order of the targets; in a narrow list also the way to a selection. */
export function FilterBar({ view: { query, filter, sort }, checks, isPicking, pick }: FilterBarProps) {
  const say = words().updates
  return (
    <div class="filter-bar">
      <div class="searchbox">
        <Icon of={Search} />
        <input
          type="search"
          data-key="/"
          aria-label={say.search}
          placeholder={say.search}
          value={query.value}
          maxLength={LONGEST_QUERY}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value
          }}
        />
      </div>
      <fieldset class="seg" aria-label={say.filterTargets}>
        {FILTERS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={filter === each}
            onClick={() => keepInQuery({ show: each === 'all' ? undefined : each })}
          >
            {each === 'need' ? needSaid(say.filters.need) : say.filters[each]}{' '}
            <span class="n num">{checks.filter((check) => passes(check, each)).length}</span>
          </button>
        ))}
      </fieldset>
      <label class="sort-by">
        <span class="dim">{say.sort}</span>
        <select
          aria-label={say.sort}
          value={sort}
          onChange={({ currentTarget: { value } }) => keepInQuery({ sort: value === 'urgency' ? undefined : value })}
        >
          {SORTS.map((each) => (
            <option key={each} value={each}>
              {say.sorts[each]}
            </option>
          ))}
        </select>
      </label>
      {isPicking !== undefined && (
        <button type="button" class="button pick" aria-pressed={isPicking} onClick={() => pick(!isPicking)}>
          {say.select}
        </button>
      )}
    </div>
  )
}
