import { useSignal } from '@preact/signals'
import type { Operations } from '../../../client/index.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { saveFile } from '../../parts/clipboard.ts'
import { Problem } from '../../parts/problem.tsx'
import { targets } from '../../wire/packages.ts'
import { api } from '../../wire/panel.ts'
import { auditWords } from './words.ts'

export type Filter = Pick<
  NonNullable<Operations['GET /api/audit']['query']>,
  'action' | 'user' | 'target' | 'from' | 'until'
>
type AuditAction = NonNullable<Filter['action']>

/** Chooses the shown entries. */
export function Filters({ filter, choose }: { filter: Filter; choose(filter: Filter): void }) {
  const say = auditWords()
  const action = useSignal<AuditAction | ''>('')
  const user = useSignal('')
  const target = useSignal('')
  const from = useSignal('')
  const until = useSignal('')
  const texts = { user, target, from, until }
  const actions: AuditAction[] = []
  for (const name in say.actions) if (isAction(name, say.actions)) actions.push(name)
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        choose({
          ...(action.value && { action: action.value }),
          ...(user.value.trim() && { user: user.value.trim() }),
          ...(target.value.trim() && { target: target.value.trim() }),
          ...(from.value && { from: startOf(from.value, 0) }),
          ...(until.value && { until: startOf(until.value, 1) }),
        })
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
      <label>
        <span>{say.target}</span>
        <input
          type="text"
          autoCapitalize="none"
          spellcheck={false}
          list="audit-targets"
          value={target.value}
          onInput={({ currentTarget }) => {
            target.value = currentTarget.value
          }}
        />
      </label>
      <datalist id="audit-targets">
        {targets.value?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
      {(['from', 'until'] as const).map((edge) => (
        <label key={edge}>
          <span>{say[edge]}</span>
          <input
            type="date"
            value={texts[edge].value}
            onInput={({ currentTarget }) => {
              texts[edge].value = currentTarget.value
            }}
          />
        </label>
      ))}
      <button type="submit" class="button primary">
        {say.filter}
      </button>
      {Object.keys(filter).length > 0 && (
        <button
          type="button"
          class="button"
          onClick={() => {
            action.value = ''
            for (const text of Object.values(texts)) text.value = ''
            choose({})
          }}
        >
          {say.clear}
        </button>
      )}
    </form>
  )
}

/** Saves the chosen entries as a file. */
export function Export({ filter }: { filter: Filter }) {
  const say = auditWords()
  const save = async (format: 'jsonl' | 'csv', type: string) => {
    const text = await api('GET /api/audit/export', { query: { ...filter, format } })
    saveFile(`audit.${format}`, new Blob([text], { type }))
  }
  const csv = useAct(() => save('csv', 'text/csv'))
  const jsonl = useAct(() => save('jsonl', 'application/jsonl'))
  return (
    <>
      <Problem error={csv.error.value ?? jsonl.error.value} />
      <Action act={csv} title={say.exportTitle}>
        {say.exportCsv}
      </Action>
      <Action act={jsonl} title={say.exportTitle}>
        {say.exportJson}
      </Action>
    </>
  )
}

/** The beginning of a day of the reader, `later` days after that one. */
function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later).toISOString()
}

function isAction(name: string, known: Readonly<Record<AuditAction, string>>): name is AuditAction {
  return Object.hasOwn(known, name)
}
