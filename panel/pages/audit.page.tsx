import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
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
import { Export, type Filter, Filters } from './audit/filters.tsx'
import { auditWords } from './audit/words.ts'
import css from '../style/later/audit.css' with { type: 'text' }

addLaterStyle(css)

const PAGE = 50

/** The audit log, newest first; older entries load on demand. */
export function AuditPage() {
  const say = auditWords()
  /** The filter of the current list. */
  const [filter, setFilter] = useState<Filter>({})
  const older = useSignal<{ entries: readonly Entry[]; next: number | null }>()
  const load = useLoad(
    (signal) => {
      older.value = undefined
      return api('GET /api/audit', { query: { ...filter, limit: PAGE }, signal })
    },
    [filter],
  )
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
      <Filters filter={filter} choose={setFilter} />
      <Loaded of={load} rows={10}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="empty">{isFiltered ? say.noMatch : say.empty}</p>
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
