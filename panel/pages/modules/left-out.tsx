import type { Answer } from '../../../client/index.ts'
import { fromService } from '../../words/words.ts'
import { registryWords } from './words.ts'

type Group = Answer<'GET /api/registry/modules'>['left'][number]

/** The repositories that are not offered, by the reason. */
export function LeftOut({ groups }: { groups: readonly Group[] }) {
  const say = registryWords()
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <details class="core">
      <summary>{say.left(all)}</summary>
      {groups.map(({ code, count, repositories }) => (
        <div key={code}>
          <p>
            {say.reason[code]} <span class="dim num">({count})</span>
          </p>
          <ul>
            {repositories.map(({ name, detail }) => (
              <li key={name} class="dim">
                <span class="mono">{name}</span>
                {detail && <> — {translated(detail)}</>}
              </li>
            ))}
            {repositories.length > 0 && count > repositories.length && (
              <li class="dim">{say.others(count - repositories.length)}</li>
            )}
          </ul>
        </div>
      ))}
    </details>
  )
}

/** The errors of several fields are sentences of their own, each after the name of its field. */
function translated(detail: string): string {
  const one = (text: string) => {
    const [, field = '', message = text] = /^([\w.]+ : )(.*)$/s.exec(text) ?? []
    return field + fromService(message)
  }
  return detail.split(' ; ').map(one).join(' ; ')
}
