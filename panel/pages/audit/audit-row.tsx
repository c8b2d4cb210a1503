import { legible } from '../../nouns/code-lines.ts'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { targets } from '../../wire/packages.ts'
import { Details, type Entry, shown } from './details.tsx'
import { auditWords } from './words.ts'

/** Actions that deserve attention. */
const STATUS: ReadonlyMap<string, StatusKind> = new Map([
  ['access_refused', 'warn'],
  ['account_barred', 'warn'],
  ['factor_refused', 'warn'],
  ['factors_reset', 'warn'],
  ['login_failed', 'warn'],
  ['login_rate_limited', 'warn'],
  ['proof_refused', 'warn'],
  ['step_up_refused', 'warn'],
  ['host_key_changed', 'err'],
  ['module_taken_back', 'warn'],
])

/** The marks of the ends of jobs. An end that is unknown here, or not in the entry, is not shown as a success. */
const ENDS: ReadonlyMap<string, StatusKind> = new Map([
  ['upgraded', 'ok'],
  ['nothing_to_do', 'ok'],
  ['regressed', 'err'],
  ['rollback_failed', 'err'],
  ['failed', 'err'],
])

function markOf(entry: Entry): StatusKind {
  const { action, details } = entry
  if (isProofAsked(entry)) return 'ok'
  return action === 'update_end' ? (ENDS.get(String(details?.outcome)) ?? 'warn') : (STATUS.get(action) ?? 'ok')
}

/** A refusal that only asked for a new proof, once: nothing to look into. */
const isProofAsked = ({ action, details }: Entry) =>
  action === 'access_refused' && details?.code === 'step_up_required' && details.refused === undefined

/** An entry as a sentence; its other fields are in the details. */
export function AuditRow({ entry }: { entry: Entry }) {
  const { action, at, username, target, ip, details } = entry
  const say = auditWords()
  const who = username !== null ? legible(username) : ip === 'host' ? say.system : say.nobody
  const kind = action === 'check_start' ? 'check' : details?.kind
  const what = legible(nameOf(action, details) ?? (target === null ? '' : inSentence(target, kind === 'check')))
  const sentence =
    action === 'update_cancel'
      ? (Object.entries(say.cancelled).find(([name]) => name === kind)?.[1] ?? say.sentences.update_cancel)
      : action === 'update_end'
        ? (endOf(details) ?? say.sentences.update_end)
        : isProofAsked(entry)
          ? say.proofAsked
          : Object.entries(say.sentences).find(([name]) => name === action)?.[1]
  return (
    <li>
      <Status is={markOf(entry)} hidden />
      <div class="grow">
        <p>{sentence ? sentence({ who, what }) : `${who} · ${action} · ${what}`}</p>
        {details && shown(details).length > 0 && <Details of={details} action={action} />}
      </div>
      <span class="dim mono">{legible(ip)}</span>
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

/** The sentence of a job's end, if the entry knows which job it was and how it ended. */
function endOf(details: Entry['details']): ((done: { what: string }) => string) | undefined {
  const say = auditWords()
  const job = Object.entries(say.endedJobs).find(([kind]) => kind === details?.kind)?.[1]
  const end = Object.entries(say.ends).find(([outcome]) => outcome === details?.outcome)?.[1]
  return job && end && (({ what }) => end(job(what)))
}

/** The name of a target inside a sentence; for a check, `all` includes the host. */
function inSentence(target: string, ofCheck: boolean): string {
  const say = auditWords().targets
  if (target === 'host') return say.host
  if (target === 'all') return ofCheck ? say.everything : say.all
  const [, vmid] = /^lxc:(\d+)$/.exec(target) ?? []
  return vmid ? say.container(targets.value?.find(({ id }) => id === target)?.name ?? vmid) : target
}
