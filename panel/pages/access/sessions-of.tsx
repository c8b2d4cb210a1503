import type { Answer } from '../../../client/index.ts'
import { deviceOf } from '../../nouns/device.ts'
import { accessWords } from '../../parts/access/words.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Ago } from '../../parts/time.tsx'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

type Session = Answer<'GET /api/auth/users/{id}/sessions'>[number]

interface SessionsOfProps {
  person: Pick<Answer<'GET /api/auth/users'>['users'][number], 'id' | 'username' | 'sessions'>
  /** Called when a session has ended. */
  changed(): Promise<void>
}

/** The open sessions of a person. */
export function SessionsOf({ person: { id, username, sessions }, changed }: SessionsOfProps) {
  const say = accessWords().people
  const load = useLoad((signal) => api('GET /api/auth/users/{id}/sessions', { params: { id }, signal }), [sessions])
  return (
    <Loaded of={load} rows={1}>
      {(found) =>
        found.length === 0 ? (
          <p class="dim">{say.noSessions}</p>
        ) : (
          <ul class="list" aria-label={say.sessionsOf(username, found.length)}>
            {found.map((session) => (
              <Row key={session.id} of={id} session={session} changed={changed} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function Row({ of, session, changed }: { of: number; session: Session; changed(): Promise<void> }) {
  const { account } = words()
  const say = accessWords().people
  const { id, user_agent, ip, created_at, last_used_at, proven_by } = session
  const { browser, system } = deviceOf(user_agent)
  const device = browser && system ? account.device(browser, system) : (browser ?? system ?? account.unknownDevice)
  const end = useAct(async () => {
    await api('DELETE /api/auth/users/{id}/sessions/{session}', { params: { id: of, session: id } })
    // The focused button disappears with the session.
    document.querySelector<HTMLElement>('h1')?.focus()
    await changed()
  })
  return (
    <li>
      <div class="grow">
        <p title={user_agent}>{device}</p>
        <p class="dim">
          {account.from(ip)},{' '}
          {last_used_at ? <Ago at={last_used_at} say={account.used} /> : <Ago at={created_at} say={account.opened} />}.{' '}
          {say.provenBy[proven_by]}
        </p>
        <Problem error={end.error.value} />
      </div>
      <Action act={end} class="small" label={account.revokeOf(device, ip)}>
        {account.revoke}
      </Action>
    </li>
  )
}
