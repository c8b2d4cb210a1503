import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Operations } from '../../client/index.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { useLoad } from '../wire/load.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { api } from '../wire/panel.ts'
import { AuditRow, type Entry } from './audit/audit-row.tsx'
import { auditWords } from './audit/words.ts'

type Query = NonNullable<Operations['GET /api/audit']['query']>
type AuditAction = NonNullable<Query['action']>

const PAGE = 50

/** The audit log, newest first; older entries load on demand. */
export function AuditPage() {
  const say = auditWords()
  const action = useSignal<AuditAction | ''>('')
  const user = useSignal('')
  /** The filter of the current list. */
  const [filter, setFilter] = useState<Query>({})
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
  const actions: AuditAction[] = []
  for (const name in say.actions) if (isAction(name, say.actions)) actions.push(name)
  const isFiltered = filter.action !== undefined || filter.user !== undefined
  return (
    <>
      <Heading title={say.title} note={say.note} />
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          const name = user.value.trim()
          setFilter({ ...(action.value && { action: action.value }), ...(name && { user: name }) })
        }}
      >
        <label>
          <span>{say.action}</span>
          <select
            value={action.value}
            onChange={({ currentTarget: { value } }) => {
              action.value = isAction(value, say.actions) ? value : ''
            }}
          >
            <option value="">{say.allActions}</option>
            {actions.map((name) => (
              <option key={name} value={name}>
                {say.actions[name]}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{say.user}</span>
          <input
            type="text"
            autoCapitalize="none"
            spellcheck={false}
            data-key="/"
            value={user.value}
            onInput={({ currentTarget }) => {
              user.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" class="button primary">
          {say.filter}
        </button>
        {isFiltered && (
          <button
            type="button"
            class="button"
            onClick={() => {
              action.value = ''
              user.value = ''
              setFilter({})
            }}
          >
            {say.clear}
          </button>
        )}
      </form>
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

function isAction(name: string, known: Readonly<Record<AuditAction, string>>): name is AuditAction {
  return Object.hasOwn(known, name)
}
