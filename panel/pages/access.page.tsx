import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { accessWords } from '../parts/access/words.ts'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useLoad } from '../wire/load.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { api } from '../wire/panel.ts'
import { EverybodysTokens } from './access/everybodys-tokens.tsx'
import { PersonRow } from './access/person-row.tsx'

const PAGE = 100

type People = Answer<'GET /api/auth/users'>

/** The first accounts by name, page by page, so that a change of one of them is read again with those before. */
async function firstPeople(most: number, signal: AbortSignal): Promise<People> {
  const users: People['users'] = []
  for (let after: string | undefined; ; ) {
    const page = await api('GET /api/auth/users', {
      query: { limit: PAGE, ...(after !== undefined && { after }) },
      signal,
    })
    users.push(...page.users)
    if (page.next === null || users.length >= most) return { users, next: page.next }
    after = page.next
  }
}

/** Everybody who has signed in: what they may do, how they prove who they are, and where they are signed in. */
export function AccessPage() {
  const say = accessWords().people
  const [most, setMost] = useState(PAGE)
  const load = useLoad((signal) => firstPeople(most, signal), [most])
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
          {({ users, next }) => (
            <>
              <ul class="list people">
                {users.map((person) => (
                  <PersonRow key={person.id} person={person} reload={reload} />
                ))}
              </ul>
              {next !== null && (
                <p class="below">
                  <button
                    type="button"
                    class="button"
                    aria-disabled={load.busy.value}
                    onClick={() => {
                      if (!load.busy.peek()) setMost(users.length + PAGE)
                    }}
                  >
                    {say.more}
                  </button>
                </p>
              )}
            </>
          )}
        </Loaded>
      </section>
      <EverybodysTokens load={tokens} reload={reload} />
    </>
  )
}
