import type { Answer } from '../../../client/index.ts'
import { deviceOf } from '../../nouns/device.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Ago } from '../../parts/time.tsx'
import { toast } from '../../parts/toast.tsx'
import { useLoad } from '../../wire/load.ts'
import { api, signOut } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

type Session = Answer<'GET /api/auth/sessions'>[number]

/** The user's sessions, this device first. */
export function Sessions() {
  const say = words().account
  const load = useLoad(async (signal) => {
    const found = await api('GET /api/auth/sessions', { signal })
    return found.sort((a, b) => Number(b.is_current) - Number(a.is_current))
  })
  const others = (load.data.value ?? []).filter(({ is_current }) => !is_current)
  const revokeAll = useAct(async () => {
    const text = say.othersText(others.length)
    if (!(await confirm({ title: say.othersTitle, text, verb: say.revokeOthers, danger: true }))) return
    try {
      for (const { id } of others) await api('DELETE /api/auth/sessions/{id}', { params: { id } })
    } finally {
      // The focused button disappears with the sessions.
      document.querySelector<HTMLElement>('h1')?.focus()
      await load.reload()
    }
  })
  return (
    <section aria-label={say.sessions}>
      <h2>{say.sessions}</h2>
      <Problem error={revokeAll.error.value} />
      <Loaded of={load} rows={2}>
        {(found) => (
          <ul class="list">
            {found.map((session) => (
              <SessionRow key={session.id} session={session} reload={load.reload} />
            ))}
          </ul>
        )}
      </Loaded>
      {others.length > 1 && (
        <p class="below">
          <Action act={revokeAll}>{say.revokeOthers}</Action>
        </p>
      )}
    </section>
  )
}

function SessionRow({ session, reload }: { session: Session; reload(): Promise<void> }) {
  const say = words().account
  const { id, ip, is_current, created_at, last_used_at, user_agent } = session
  const { browser, system } = deviceOf(user_agent)
  const known = browser && system ? say.device(browser, system) : (browser ?? system)
  const device = known ?? say.unknownDevice
  const revoke = useAct(async () => {
    await api('DELETE /api/auth/sessions/{id}', { params: { id } })
    toast(say.revoked)
    // The focused button disappears with the session.
    document.querySelector<HTMLElement>('h1')?.focus()
    await reload()
  })
  return (
    <li>
      <div class="grow">
        <p title={user_agent}>
          {device} {is_current && <strong class="tag">{say.thisDevice}</strong>}
        </p>
        <p class="dim">
          {say.from(ip)},{' '}
          {last_used_at ? <Ago at={last_used_at} say={say.used} /> : <Ago at={created_at} say={say.opened} />}
        </p>
        <Problem error={revoke.error.value} />
      </div>
      {is_current ? (
        <button type="button" class="button small" onClick={() => void signOut()}>
          {say.signOut}
        </button>
      ) : (
        <Action act={revoke} class="small" label={say.revokeOf(device, ip)}>
          {say.revoke}
        </Action>
      )}
    </li>
  )
}
