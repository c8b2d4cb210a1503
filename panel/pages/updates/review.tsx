import { type Check, updatesIn } from '../../nouns/checked.ts'
import { bytes } from '../../nouns/format.ts'
import { worstFirst } from '../../nouns/target-list.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Ago } from '../../parts/time.tsx'
import { useLoad } from '../../wire/load.ts'
import type { Package } from '../../wire/packages.ts'
import { loadPackages } from '../../wire/remedies.ts'
import { language, words } from '../../words/words.ts'
import { FindingText } from './finding-text.tsx'
import { Versions } from './package-parts.tsx'
import { SecurityTag } from './security-tag.tsx'

/** The changes that an upgrade of the target makes, with its findings; the packages are loaded first. */
export function Review({ check }: { check: Check }) {
  const { updates: say } = words()
  const load = useLoad((signal) => loadPackages(check.target, signal), [])
  const told = worstFirst(check.findings).filter(({ severity }) => severity !== 'info')
  return (
    <div class="review">
      {check.target === 'host' && (
        <p>{say.upgradeHostText(check.checked_at ? say.packages(updatesIn(check)) : say.upgradeHostUnknown)}</p>
      )}
      {check.changed_at !== null && (
        <p>
          <Ago at={check.changed_at} say={say.changed} />
        </p>
      )}
      {told.length > 0 && (
        <ul class="findings">
          {told.map((finding) => (
            <li key={`${finding.code} ${finding.repository}`}>
              <FindingText finding={finding} />
            </li>
          ))}
        </ul>
      )}
      <Loaded of={load}>{(packages) => <Changes check={check} packages={packages} />}</Loaded>
      <p class="small">{say.reviewFresh}</p>
    </div>
  )
}

/** Everything that changes, removals first: the upgrade is a full one, so it also makes what only a removal lets through. */
function Changes({ check, packages }: { check: Check; packages: readonly Package[] }) {
  const { updates: say, shell } = words()
  const made = packages.filter(({ status, reason }) => status === 'planned' || reason === 'kept_back_remove')
  const removed = made.filter(({ action }) => action === 'remove')
  const added = made.filter(({ action }) => action === 'install')
  const changed = made.filter(({ action }) => action === 'upgrade' || action === 'downgrade')
  if (made.length === 0) return <p>{say.reviewNothing}</p>
  return (
    <>
      {removed.length > 0 && (
        <section class="removals" aria-label={say.removes(removed.length)}>
          <h3>{say.removes(removed.length)}</h3>
          <Names packages={removed} />
        </section>
      )}
      {added.length > 0 && (
        <section aria-label={say.installs(added.length)}>
          <h3>{say.installs(added.length)}</h3>
          <Names packages={added} />
        </section>
      )}
      {changed.length > 0 && (
        <section aria-label={say.updatesOf(changed.length)}>
          <h3>
            {say.updatesOf(changed.length)}
            {check.download_bytes !== null && (
              <span class="dim"> · {say.toDownload(bytes(check.download_bytes, shell.units.bytes, language()))}</span>
            )}
          </h3>
          <Names packages={changed} />
        </section>
      )}
    </>
  )
}

function Names({ packages }: { packages: readonly Package[] }) {
  return (
    <ul class="names">
      {packages.map((one) => (
        <li key={`${one.name}:${one.arch}`}>
          <span class="pn">{one.name}</span>
          <Versions of={one} />
          <SecurityTag
            count={one.security ? 1 : 0}
            exploited={one.cves.some((cve) => cve.known_exploited) ? 1 : 0}
            word
          />
        </li>
      ))}
    </ul>
  )
}
