import { useSignal } from '@preact/signals'
import type { Change } from '../../nouns/plan.ts'
import { protectionWords } from './words.ts'
import { words } from '../../words/words.ts'

const FIRST = 5

/** The packages that the upgrade has changed, the few first ones until somebody asks for all. */
export function ChangedPackages({ changes }: { changes: readonly Change[] }) {
  const protection = protectionWords()
  const { plan } = words()
  const say = protection.packages
  const showsAll = useSignal(false)
  if (changes.length === 0) return null
  const shown = showsAll.value ? changes : changes.slice(0, FIRST)
  return (
    <section aria-labelledby="changed">
      <div class="bar">
        <h2 id="changed">{say.title}</h2>
      </div>
      <ul class="list changed-packages">
        {shown.map(({ name, arch, from, to }) => (
          <li key={`${name}:${arch}`}>
            <b class="anywhere">{name}</b>
            <span class="mono dim anywhere small">
              {from ?? plan.difference.none} → {to ?? plan.difference.none}
            </span>
          </li>
        ))}
        {changes.length > shown.length && (
          <li>
            <span class="grow">{say.more(changes.length - shown.length)}</span>
            <button type="button" class="button small" onClick={() => (showsAll.value = true)}>
              {say.show}
            </button>
          </li>
        )}
      </ul>
    </section>
  )
}
