import { accessWords } from '../../parts/access/words.ts'
import { TokenRow } from '../../parts/access/token-row.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'

/** The API tokens of all users. */
export function EverybodysTokens() {
  const say = accessWords().people
  const load = useLoad((signal) => api('GET /api/auth/tokens', { query: { all: 'true' }, signal }))
  return (
    <section aria-label={say.tokens}>
      <h2>{say.tokens}</h2>
      <Loaded of={load} rows={2}>
        {(found) =>
          found.length === 0 ? (
            <p class="dim">{say.noTokens}</p>
          ) : (
            <ul class="list">
              {found.map((token) => (
                <TokenRow key={token.id} token={token} owner={token.username} reload={load.reload} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
