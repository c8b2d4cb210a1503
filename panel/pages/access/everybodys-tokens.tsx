import type { Answer } from '../../../client/index.ts'
import { accessWords } from '../../parts/access/words.ts'
import { TokenRow } from '../../parts/access/token-row.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import type { Load } from '../../wire/load.ts'

interface EverybodysTokensProps {
  load: Load<Answer<'GET /api/auth/tokens'>>
  /** Reads them and their owners again. */
  reload(): Promise<void>
}

/** The API tokens of all users. */
export function EverybodysTokens({ load, reload }: EverybodysTokensProps) {
  const say = accessWords().people
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
                <TokenRow key={token.id} token={token} owner={token.username} reload={reload} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
