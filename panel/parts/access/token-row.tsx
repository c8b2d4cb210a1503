import type { Answer } from '../../../client/index.ts'
import { day } from '../../nouns/format.ts'
import { api } from '../../wire/panel.ts'
import { language } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { confirm } from '../dialog.tsx'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { Ago } from '../time.tsx'
import { toast } from '../toast.tsx'
import { targetsSaid } from './roles.ts'
import { accessWords } from './words.ts'

interface TokenRowProps {
  token: Answer<'GET /api/auth/tokens'>[number]
  /** Shown where the tokens of several people are listed. */
  owner?: string
  reload(): Promise<void>
}

/** An API token, with what it may do at present. */
export function TokenRow({ token, owner, reload }: TokenRowProps) {
  const { tokens: say, roles } = accessWords()
  const { id, name, role, targets, effective_role, created_at, expires_at, last_used_at, last_ip } = token
  const revoke = useAct(async () => {
    if (!(await confirm({ title: say.revokeTitle(name), text: say.revokeText, verb: say.revoke, danger: true }))) return
    await api('DELETE /api/auth/tokens/{id}', { params: { id } })
    toast(say.revoked)
    // The focused button disappears with the token.
    document.querySelector<HTMLElement>('h1')?.focus()
    await reload()
  })
  const ends = expires_at === null ? undefined : day(Date.parse(expires_at), language())
  const isOver = isExpired(token)
  return (
    <li>
      <div class="grow">
        <p class="cut-two" title={name}>
          {name}
        </p>
        <p class="dim">
          {owner && `${say.of(owner)} `}
          {roles.names[role]}, {targetsSaid(targets)}.{' '}
          {!isOver && (ends === undefined ? say.forever : say.expires(ends))}
        </p>
        {(isOver || effective_role !== role) && (
          <p>
            <Status is="warn" hidden />{' '}
            {isOver && ends !== undefined
              ? say.expired(ends)
              : effective_role === null
                ? say.refused
                : say.less(roles.names[effective_role])}
          </p>
        )}
        <p class="dim">
          <Ago at={created_at} say={say.created} />,{' '}
          {last_used_at ? <Ago at={last_used_at} say={(ago) => say.used(ago, last_ip ?? '')} /> : say.neverUsed}
        </p>
        <Problem error={revoke.error.value} />
      </div>
      <Action act={revoke} class="small" label={say.revokeOf(name)}>
        {say.revoke}
      </Action>
    </li>
  )
}

/** Whether a token has reached its end. Expired ones are listed for a while. */
export function isExpired({ expires_at }: Pick<TokenRowProps['token'], 'expires_at'>): boolean {
  return expires_at !== null && Date.parse(expires_at) <= Date.now()
}
