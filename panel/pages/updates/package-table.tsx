import { useSignal } from '@preact/signals'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { type Package, readPackages } from '../../wire/packages.ts'
import { words } from '../../words/words.ts'

/** Fewer are seen at a glance. */
const WORTH_A_FILTER = 12

interface PackageTableProps {
  target: string
  /** When they were looked at: once that changes they are read again. */
  at: string | null
  label: string
}

/** What would be upgraded, from which version to which. */
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
