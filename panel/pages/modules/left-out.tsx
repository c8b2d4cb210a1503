import type { Answer } from '../../../client/index.ts'
import { fromService, language } from '../../words/words.ts'
import { registryWords, unbroken } from './words.ts'

type Group = Answer<'GET /api/registry/modules'>['left'][number]

/** The names of a group that are shown before a person asks for the rest. */
const SHOWN = 10

/** The repositories that are not offered, by the reason. */
export function LeftOut({ groups }: { groups: readonly Group[] }) {
  const say = registryWords()
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <details class="core">
      <summary>{say.left(all)}</summary>
      {groups.map(({ code, count, repositories }) => {
        // A rest of one or two would be shorter than the line that opens it.
        const first = repositories.length > SHOWN + 2 ? SHOWN : repositories.length
        const rest = repositories.slice(first)
        const unknown = repositories.length > 0 ? count - repositories.length : 0
        const untold = unknown > 0 && <p class="dim">{say.others(unknown)}</p>
        return (
          <div key={code} class="left-out">
            <p>
              {say.reason[code]} <span class="dim num">({count})</span>
            </p>
            <Names of={repositories.slice(0, first)} />
            {rest.length > 0 ? (
              <details>
                <summary>{say.others(count - first)}</summary>
                <Names of={rest} />
                {untold}
              </details>
            ) : (
              untold
            )}
          </div>
        )
      })}
    </details>
  )
}

function Names({ of: repositories }: { of: Group['repositories'] }) {
  return (
    <ul class="dim">
      {repositories.map(({ name, detail }) => (
        <li key={name}>
          <span class="mono">{name}</span>
          {detail && <> — {translated(detail)}</>}
        </li>
      ))}
    </ul>
  )
}

/** The errors of several fields are sentences of their own, each after the name of its field. */
function translated(detail: string): string {
  const [colon, semicolon] = language() === 'fr' ? [' : ', ' ; '] : [': ', '; ']
  const one = (text: string) => {
    const [, field = '', message = text] = /^([\w.]+ : )(.*)$/s.exec(text) ?? []
    return field.replace(' : ', colon) + fromService(message)
  }
  return unbroken(detail.split(' ; ').map(one).join(semicolon))
}
