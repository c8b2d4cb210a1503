import { useSignal } from '@preact/signals'
import type { Package } from '../../wire/packages.ts'
import { words } from '../../words/words.ts'

/** Fewer are seen at a glance. */
const WORTH_A_FILTER = 12

/** What would be upgraded, from which version to which. */
export function PackageTable({ packages, label }: { packages: readonly Package[]; label: string }) {
  const say = words().updates
  const filter = useSignal('')
  const wanted = filter.value.trim().toLowerCase()
  const shown = packages.filter(({ name }) => name.toLowerCase().includes(wanted))
  return (
    <>
      {packages.length > WORTH_A_FILTER && (
        <input
          type="search"
          class="filter"
          aria-label={say.filter}
          placeholder={say.filter}
          value={filter.value}
          onInput={({ currentTarget }) => {
            filter.value = currentTarget.value
          }}
        />
      )}
      {shown.length === 0 && <p class="dim">{say.noMatch}</p>}
      {shown.length > 0 && (
        <table aria-label={label}>
          <thead class="unseen">
            <tr>
              <th scope="col">{say.name}</th>
              <th scope="col">{say.installed}</th>
              <th scope="col">{say.available}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, old_version, version }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="dim mono">{old_version}</td>
                <td class="mono">{version}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
