import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Answer } from '../../../client/index.ts'
import { targetsSaid } from '../../parts/access/roles.ts'
import { accessWords } from '../../parts/access/words.ts'
import { useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { toast } from '../../parts/toast.tsx'
import { api, me } from '../../wire/panel.ts'
import { SessionsOf } from './sessions-of.tsx'

type Person = Answer<'GET /api/auth/users'>['users'][number]

/** A person, with what an administrator can do about their access. */
export function PersonRow({ person, reload }: { person: Person; reload(): Promise<void> }) {
  const { people: say, roles } = accessWords()
  const { id, username, role, operates, last_login_at, sessions, tokens, factors, barred_at, barred_by } = person
  const isOpen = useSignal(false)
  const details = useId()
  const isOwn = id === me.value?.id
  const end = useAct(async () => {
    const question = isOwn
      ? { title: say.endOwnTitle, text: say.endOwnText, verb: say.endOwn, danger: true }
      : { title: say.endTitle(username), text: say.endText, verb: say.end, danger: true }
    if (!(await confirm(question))) return
    await api('DELETE /api/auth/users/{id}/sessions', { params: { id } })
    toast(say.ended(username))
    await reload()
  })
  const bar = useAct(async () => {
    const question = { title: say.barTitle(username), text: say.barText, verb: say.bar, danger: true }
    if (!(await confirm(question))) return
    await api('PUT /api/auth/users/{id}/bar', { params: { id } })
    await reload()
  })
  const unbar = useAct(async () => {
    await api('DELETE /api/auth/users/{id}/bar', { params: { id } })
    await reload()
  })
  const proofs = [
    ...(factors.totp > 0 ? [say.totp(factors.totp)] : []),
    ...(factors.passkeys > 0 ? [say.passkeys(factors.passkeys)] : []),
  ]
  return (
    <li>
      <div class="grow">
        <p class="cut-two" title={username}>
          <strong>{username}</strong> {isOwn && <span class="tag">{say.you}</span>}
        </p>
        {barred_at !== null && (
          <p>
            <Status is="barred">
              <Ago at={barred_at} say={(ago) => say.barred(barred_by ?? '', ago)} />
            </Status>
          </p>
        )}
        <p class="dim">
          {roles.names[role]}
          {role === 'operator' && `, ${targetsSaid(operates)}`}.{' '}
          {proofs.length > 0 ? say.provesBy(proofs.join(', '), factors.recovery_codes) : say.noFactor}
        </p>
        <p class="dim">
          {last_login_at ? <Ago at={last_login_at} say={say.lastLogin} /> : say.neverSignedIn} {say.tokenCount(tokens)}
        </p>
        {[end, bar, unbar].map((act, n) => (
          <Problem key={n} error={act.error.value} />
        ))}
      </div>
      <button
        type="button"
        class="button small"
        aria-expanded={isOpen.value}
        aria-controls={details}
        aria-label={say.sessionsOf(username, sessions)}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        {say.sessions(sessions)}
      </button>
      <Menu label={say.moreOf(username)}>
        <Item act={() => void end.run()} blocked={sessions === 0 ? say.noSessions : undefined}>
          {isOwn ? say.endOwn : say.end}
        </Item>
        {barred_at === null ? (
          <Item act={() => void bar.run()} blocked={isOwn ? say.notYourself : undefined}>
            {say.bar}
          </Item>
        ) : (
          <Item act={() => void unbar.run()} blocked={undefined}>
            {say.unbar}
          </Item>
        )}
      </Menu>
      <div class="more" id={details}>
        {isOpen.value && <SessionsOf person={person} changed={reload} />}
      </div>
    </li>
  )
}

interface ItemProps {
  act(): void
  /** The reason why it is disabled. */
  blocked: string | undefined
  children: string
}

function Item({ act, blocked, children }: ItemProps) {
  return (
    <button
      type="button"
      aria-disabled={blocked !== undefined}
      title={blocked}
      onClick={() => {
        if (blocked === undefined) act()
      }}
    >
      {children}
    </button>
  )
}
