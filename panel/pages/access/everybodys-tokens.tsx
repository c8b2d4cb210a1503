import type { Answer } from '../../../client/index.ts'
import { accessWords } from '../../parts/access/words.ts'
import { isExpired, TokenRow } from '../../parts/access/token-row.tsx'
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
        {(found) => {
          if (found.length === 0) return <p class="dim">{say.noTokens}</p>
          // People are counted without the expired ones.
          const expired = found.filter(isExpired)
          const valid = found.filter((token) => !expired.includes(token))
          return (
            <>
              <p class="dim counted">{say.tokensCounted(valid.length, expired.length)}</p>
              <ul class="list tokens">
                {[...valid, ...expired].map((token) => (
                  <TokenRow key={token.id} token={token} owner={token.username} reload={reload} />
                ))}
              </ul>
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
