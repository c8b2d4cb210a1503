import { safeLink } from '../../nouns/links.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Ago } from '../../parts/time.tsx'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { fromService } from '../../words/words.ts'
import { registryWords, unbroken } from './words.ts'

interface ChangesProps {
  id: string
  /** The address of the repository on the forge. */
  repository: string | null
  from: string
  to: string
}

/** The changes between the installed commit of a module and another one: commits and files, with a link to the forge. */
export function Changes({ id, repository, from, to }: ChangesProps) {
  const offer = registryWords()
  const load = useLoad((signal) =>
    api('GET /api/registry/modules/{id}/changes', { params: { id }, query: { from, to }, signal }),
  )
  const link = safeLink(repository)
  return (
    <div class="changes">
      <Loaded of={load} rows={1}>
        {({ commits, commits_total, dropped_total, files, files_total, unknown, error }) =>
          unknown !== null ? (
            <p class="warn-text">{unbroken(fromService(error ?? ''))}</p>
          ) : (
            <>
              {dropped_total > 0 && <p class="warn-text">{offer.dropped(dropped_total)}</p>}
              <details>
                <summary>{offer.changes(commits_total, files_total)}</summary>
                <ul class="commits">
                  {commits.map(({ commit, title, author, date }) => (
                    <li key={commit}>
                      <p title={commit}>{title}</p>
                      <p class="dim small">
                        {author} · <Ago at={date} />
                      </p>
                    </li>
                  ))}
                  {commits_total > commits.length && (
                    <li class="dim">{offer.moreOfThem(commits_total - commits.length)}</li>
                  )}
                </ul>
                <ul class="files mono">
                  {files.map(({ name, status }) => (
                    <li key={name}>
                      {name} <span class="dim">{offer.fileStatus[status]}</span>
                    </li>
                  ))}
                  {files_total > files.length && <li class="dim">{offer.moreOfThem(files_total - files.length)}</li>}
                </ul>
              </details>
            </>
          )
        }
      </Loaded>
      {link && (
        <p>
          <a href={`${link}/compare/${from}...${to}`} target="_blank" rel="noreferrer noopener">
            {offer.onForge}
          </a>
        </p>
      )}
    </div>
  )
}
