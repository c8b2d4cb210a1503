import { useSignal } from '@preact/signals'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { type Package, readPackages } from '../../wire/packages.ts'
import { words } from '../../words/words.ts'

/** The list is short enough without a filter up to this number. */
const FILTER_THRESHOLD = 12

interface PackageTableProps {
  target: string
  /** The time of the check; a new check reloads the list. */
  at: string | null
  label: string
}

/** The available updates with the installed and the new version. */
export function PackageTable({ target, at, label }: PackageTableProps) {
  const load = useLoad((signal) => readPackages(target, signal), [target, at])
  return <Loaded of={load}>{(packages) => <Table packages={packages} label={label} />}</Loaded>
}

function Table({ packages, label }: { packages: readonly Package[]; label: string }) {
  const say = words().updates
  const filter = useSignal('')
  const wanted = filter.value.trim().toLowerCase()
  const shown = packages.filter(({ name }) => name.toLowerCase().includes(wanted))
  return (
    <>
      {packages.length > FILTER_THRESHOLD && (
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
            {shown.map(({ name, arch, from, to, status }) => (
              <tr key={`${name}:${arch}`}>
                <th scope="row">
                  {name} {status !== 'planned' && <span class="dim">{say.packageStates[status]}</span>}
                </th>
                <td class="dim mono">{from}</td>
                <td class="mono">{to}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
