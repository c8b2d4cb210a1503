import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { legible } from '../nouns/code-lines.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { addLaterStyle } from '../parts/later-style.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { useLoad } from '../wire/load.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { api } from '../wire/panel.ts'
import { AuditRow } from './audit/audit-row.tsx'
import type { Entry } from './audit/details.tsx'
import { type Fields, fieldsAsked, filterOf, keepFields, targetsMeant } from './audit/filter.ts'
import { Export, Filters } from './audit/filters.tsx'
import { auditWords } from './audit/words.ts'
import css from '../style/later/audit.css' with { type: 'text' }

addLaterStyle(css)

const PAGE = 50

/** The audit log, newest first; older entries load on demand. */
export function AuditPage() {
  const say = auditWords()
  const fields = fieldsAsked()
  const { action, user, target, from, until } = fields
  const filter = filterOf(fields)
  const older = useSignal<{ entries: readonly Entry[]; next: number | null }>()
  const load = useLoad(
    (signal) => {
      older.value = undefined
      return api('GET /api/audit', { query: { ...filter, limit: PAGE }, signal })
    },
    [action, user, target, from, until],
  )
  const people = useLoad((signal) => api('GET /api/auth/users', { query: { limit: 500 }, signal }))
  const known = people.data.value?.users.map(({ username }) => username) ?? []
  useEffect(() => {
    // Loads container names; without them the entries show container numbers.
    // Before the host has listed its containers, the known list is the host alone.
    if (!targets.peek()?.some(({ vmid }) => vmid !== undefined)) readTargets().catch(() => {})
  }, [])
  const next = older.value ? older.value.next : (load.data.value?.next ?? null)
  const more = useAct(async () => {
    if (next === null) return
    const found = await api('GET /api/audit', { query: { ...filter, limit: PAGE, before: next } })
    older.value = { entries: [...(older.value?.entries ?? []), ...found.entries], next: found.next }
  })
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <Heading title={say.title} note={say.note}>
        <Export filter={filter} />
      </Heading>
      <Filters fields={fields} choose={keepFields} people={known} />
      <Loaded of={load} rows={10}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="empty">{isFiltered ? noneSaid(fields, known) : say.empty}</p>
          ) : (
            <ol class="list audit-entries">
              {[...entries, ...(older.value?.entries ?? [])].map((entry) => (
                <AuditRow key={entry.id} entry={entry} />
              ))}
            </ol>
          )
        }
      </Loaded>
      <Problem error={more.error.value} retry={more.run} />
      {next !== null && (
        <p class="below">
          <Action act={more}>{say.more}</Action>
        </p>
      )}
    </>
  )
}

/** Tells why nothing may match: a name that nobody has, or that is written in another way. */
function noneSaid({ user, target, action }: Fields, known: readonly string[]): string {
  const say = auditWords()
  const meant = known.find((name) => name.toLowerCase() === user.toLowerCase())
  if (meant !== undefined && !known.includes(user)) return say.otherCase(legible(meant))
  const isUnknown = action === '' && target !== '' && targetsMeant(target, action).length === 0
  return isUnknown ? say.noKnown(legible(target)) : say.noMatch
}
