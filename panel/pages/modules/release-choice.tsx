import type { Signal } from '@preact/signals'
import type { Answer } from '../../../client/index.ts'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { fromService } from '../../words/words.ts'
import { Changes } from './changes.tsx'
import { registryWords, unbroken } from './words.ts'

/** A release that can be installed; without a tag it is the newest commit. */
export interface ChosenRelease {
  commit: string
  tag?: string
}

type Versions = Answer<'GET /api/registry/modules/{id}/versions'>

interface ReleaseChoiceProps {
  id: string
  repository: string
  /** The newest commit, as the list has shown it. */
  tip: { commit: string; version: string }
  chosen: Signal<ChosenRelease>
}

/** The length of a short commit id, as on forges. */
const SHORT = 10

/** The release to install, a choice of others where there are any, and what it changes of the installed one. */
export function ReleaseChoice({ id, repository, tip, chosen }: ReleaseChoiceProps) {
  const offer = registryWords()
  const load = useLoad((signal) => api('GET /api/registry/modules/{id}/versions', { params: { id }, signal }))
  const versions = load.data.value
  const releases = versions ? releasesOf(versions) : []
  const { commit, tag } = chosen.value
  const installed = versions?.installed?.commit
  const notes = versions?.releases.find((each) => each.tag === tag)?.notes
  return (
    <>
      {releases.length > 0 && (
        <label class="field">
          <span>{offer.release}</span>
          <select
            value={tag ?? ''}
            onChange={({ currentTarget }) => {
              const found = releases.find((each) => each.tag === currentTarget.value)
              chosen.value = found ? { commit: found.commit, tag: found.tag } : { commit: tip.commit }
            }}
          >
            <option value="">{offer.newest(tip.version, versions?.tip?.branch ?? '')}</option>
            {releases.map((each) => (
              <option key={each.tag} value={each.tag}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
      )}
      {versions?.error && <p class="dim">{unbroken(fromService(versions.error))}</p>}
      <p>{offer.installCommit}</p>
      <p>
        <CommitName of={commit} />
      </p>
      {notes && (
        <details>
          <summary>{offer.notes}</summary>
          <p class="notes">{notes}</p>
        </details>
      )}
      {installed && installed !== commit && (
        <Changes key={commit} id={id} repository={repository} from={installed} to={commit} />
      )}
    </>
  )

  function releasesOf({ releases, tags }: Versions) {
    const named = releases.map(({ tag, commit, name, prerelease }) => {
      const label = name === '' || name === tag ? tag : `${tag} — ${name}`
      return { tag, commit, label: prerelease ? offer.prerelease(label) : label }
    })
    const known = new Set(named.map(({ tag }) => tag))
    return [...named, ...tags.filter(({ tag }) => !known.has(tag)).map((each) => ({ ...each, label: each.tag }))]
  }
}

/** A commit's short name, with the whole one as its title. */
export function CommitName({ of: commit }: { of: string }) {
  return (
    <code class="mono" title={commit}>
      {commit.slice(0, SHORT)}
    </code>
  )
}
