import { useEffect } from 'preact/hooks'
import { accessWords } from '../parts/access/words.ts'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useLoad } from '../wire/load.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { api } from '../wire/panel.ts'
import { EverybodysTokens } from './access/everybodys-tokens.tsx'
import { PersonRow } from './access/person-row.tsx'

/** Everybody who has signed in: what they may do, how they prove who they are, and where they are signed in. */
export function AccessPage() {
  const say = accessWords().people
  const load = useLoad((signal) => api('GET /api/auth/users', { signal }))
  const tokens = useLoad((signal) => api('GET /api/auth/tokens', { query: { all: 'true' }, signal }))
  /** Both: a barred account's tokens are refused, and people are listed with the number of their tokens. */
  const reload = async () => {
    await Promise.all([load.reload(), tokens.reload()])
  }
  useEffect(() => {
    // Loads container names; without them, targets are numbers.
    if (!targets.peek()?.some(({ vmid }) => vmid !== undefined)) readTargets().catch(() => {})
  }, [])
  return (
    <>
      <Heading title={say.title} note={say.note} />
      <section aria-label={say.people}>
        <Loaded of={load} rows={4}>
          {(people) => (
            <ul class="list people">
              {people.map((person) => (
                <PersonRow key={person.id} person={person} reload={reload} />
              ))}
            </ul>
          )}
        </Loaded>
      </section>
      <EverybodysTokens load={tokens} reload={reload} />
    </>
  )
}
