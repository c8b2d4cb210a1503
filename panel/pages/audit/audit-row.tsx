import type { Answer } from '../../../client/index.ts'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { targets } from '../../wire/packages.ts'
import { fromService } from '../../words/words.ts'
import { auditWords } from './words.ts'

export type Entry = Answer<'GET /api/audit'>['entries'][number]

/** Actions that deserve attention. */
const STATUS: Readonly<Record<string, StatusKind>> = {
  access_refused: 'warn',
  account_barred: 'warn',
  factor_refused: 'warn',
  factors_reset: 'warn',
  login_failed: 'warn',
  login_rate_limited: 'warn',
  proof_refused: 'warn',
  step_up_refused: 'warn',
  host_key_changed: 'err',
  module_taken_back: 'warn',
}

/** An entry as a sentence; its other fields are in the details. */
export function AuditRow({ entry: { action, at, username, target, ip, details } }: { entry: Entry }) {
  const say = auditWords()
  const who = username ?? (ip === 'host' ? say.system : say.nobody)
  const kind = action === 'check_start' ? 'check' : details?.kind
  const what = nameOf(action, details) ?? (target === null ? '' : inSentence(target, kind === 'check'))
  const sentence =
    action === 'update_cancel'
      ? (Object.entries(say.cancelled).find(([name]) => name === kind)?.[1] ?? say.sentences.update_cancel)
      : Object.entries(say.sentences).find(([name]) => name === action)?.[1]
  const noted = Object.entries(details ?? {})
  return (
    <li>
      <Status is={STATUS[action] ?? 'ok'} hidden />
      <div class="grow">
        <p>{sentence ? sentence({ who, what }) : `${who} · ${action} · ${what}`}</p>
        {noted.length > 0 && (
          <details>
            <summary>{say.details}</summary>
            <dl>
              {noted.map(([name, value]) => (
                <div key={name}>
                  <dt class="dim">{name}</dt>
                  <dd class="mono">{fromService(String(value))}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
      <span class="dim mono">{ip}</span>
      <span class="dim when">
        <Ago at={at} />
      </span>
    </li>
  )
}

/** The name of a schedule or a channel at that time: it may be another one now, or be gone. */
function nameOf(action: string, details: Entry['details']): string | undefined {
  const name = /^(schedule|channel)_/.test(action) ? details?.name : undefined
  return typeof name === 'string' ? auditWords().named(name) : undefined
}

/** The name of a target inside a sentence; for a check, `all` includes the host. */
function inSentence(target: string, ofCheck: boolean): string {
  const say = auditWords().targets
  if (target === 'host') return say.host
  if (target === 'all') return ofCheck ? say.everything : say.all
  const [, vmid] = /^lxc:(\d+)$/.exec(target) ?? []
  return vmid ? say.container(targets.value?.find(({ id }) => id === target)?.name ?? vmid) : target
}
