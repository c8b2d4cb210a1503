import type { Signal } from '@preact/signals'
import type { Package } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** The list is short enough without a filter up to this number. */
const FILTER_THRESHOLD = 12

/** The field that filters a list of packages; nothing beside a short list. */
export function PackageFilter({ of: filter, count }: { of: Signal<string>; count: number }) {
  const say = words().updates
  if (count <= FILTER_THRESHOLD) return null
  return (
    <input
      type="search"
      class="filter-packages"
      aria-label={say.filter}
      placeholder={say.filter}
      value={filter.value}
      onInput={({ currentTarget }) => {
        filter.value = currentTarget.value
      }}
    />
  )
}

/** The packages whose name or one of whose vulnerabilities contains the typed text. */
export function filtered(packages: readonly Package[], typed: string): readonly Package[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return packages
  const has = (text: string) => text.toLowerCase().includes(wanted)
  return packages.filter(({ name, cves }) => has(name) || cves.some(({ id }) => has(id)))
}
