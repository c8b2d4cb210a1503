import type { ComponentChildren } from 'preact'
import { type Agreement, agreementFor, type Application, type Source } from '../../nouns/application.ts'
import { isAdmin } from '../../wire/panel.ts'
import { Action, type Act } from '../action.tsx'
import { Status } from '../status.tsx'
import { Ago } from '../time.tsx'
import { applicationWords } from './words.ts'

/** Returns the agreement to what was fetched last; undefined where there is none. */
export function agreementOf(one: Application | undefined): Agreement | undefined {
  const { digest = null, agreed = false, agreed_by: by = null, agreed_at: at = null } = one?.source ?? {}
  return agreed && digest !== null && by !== null && at !== null ? { digest, by, at } : undefined
}

interface AgreedProps {
  source: Source | undefined
  /** The newest agreement that is known, to this source or to another one. */
  agreement: Agreement | undefined
  withdraw: Act<[]>
}

/** The person and the time of an agreement, and the way to withdraw it. */
export function Agreed({ source, agreement, withdraw }: AgreedProps) {
  const say = applicationWords().sheet.agreement
  const { told, former } = agreementFor(agreement, source)
  if (source === undefined && agreement === undefined) return null
  return (
    <div class="agreed">
      {told || source?.agreed ? (
        <Line is="ok">
          {told ? <Ago at={told.at} say={(ago) => say.by(told.by, ago)} /> : say.now} {say.everywhere}
        </Line>
      ) : (
        <Line is="unknown">
          {say.none} {isAdmin.value ? say.everywhere : say.forAdmins}
        </Line>
      )}
      {former && (
        <Line is="info">
          <Ago at={former.at} say={(ago) => say.former(former.by, ago)} />
        </Line>
      )}
      {isAdmin.value && (told || former || source?.agreed) && (
        <Action act={withdraw} class="small">
          {say.withdraw}
        </Action>
      )}
    </div>
  )
}

function Line({ is, children }: { is: 'ok' | 'unknown' | 'info'; children: ComponentChildren }) {
  return (
    <p class="grow">
      <Status is={is} hidden /> <span>{children}</span>
    </p>
  )
}
