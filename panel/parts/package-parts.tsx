import { ArrowRight } from 'lucide'
import { Icon } from './icon.tsx'
import type { Package } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** The installed and the new version; what differs in the new one is marked. */
export function Versions({ of: { from, to } }: { of: Pick<Package, 'from' | 'to'> }) {
  const same = from !== null && to !== null ? commonStart(from, to) : 0
  return (
    <span class="pv mono">
      {from !== null && <span>{from}</span>}
      {from !== null && to !== null && <Icon of={ArrowRight} />}
      {to !== null && (
        <span>
          {to.slice(0, same)}
          <b>{to.slice(same)}</b>
        </span>
      )}
    </span>
  )
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  // A number is marked whole.
  while (at > 0 && /\d/.test(other[at - 1] ?? '') && /\d/.test(other[at] ?? one[at] ?? '')) at -= 1
  return at
}

/** Vulnerabilities shown at once, the exploited ones first. */
const FIRST = 4

/** The vulnerabilities that an update fixes, with urgency and the mark of exploited ones. */
export function Vulnerabilities({ cves, all, showAll }: { cves: Package['cves']; all: boolean; showAll(): void }) {
  const say = words().updates
  const ordered = [...cves].sort((one, other) => Number(other.known_exploited) - Number(one.known_exploited))
  const shown = all ? ordered : ordered.slice(0, FIRST)
  if (cves.length === 0) return null
  return (
    <ul class="cves" aria-label={say.vulnerabilities}>
      {shown.map(({ id, urgency, known_exploited: isExploited }) => (
        <li key={id} class={isExploited ? 'tag err' : 'tag'}>
          {id}
          {urgency !== null && ` · ${say.urgencies[urgency] ?? urgency}`}
          {isExploited && ` · ${say.exploitedOne}`}
        </li>
      ))}
      {shown.length < ordered.length && (
        <li>
          <button type="button" class="button plain small" onClick={showAll}>
            {say.moreCves(ordered.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  )
}
