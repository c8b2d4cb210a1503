import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Action, useAct } from '../../parts/action.tsx'
import { saveFile } from '../../parts/clipboard.ts'
import { focusWrong, Said } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { targets } from '../../wire/packages.ts'
import { api } from '../../wire/panel.ts'
import { type AuditAction, type Fields, type Filter, isAction, LONGEST, NO_FIELDS, targetsMeant } from './filter.ts'
import { auditWords } from './words.ts'

interface FiltersProps {
  fields: Fields
  choose(fields: Fields): void
  /** The names of those who may have done something. */
  people: readonly string[]
}

/** Chooses the shown entries. */
export function Filters({ fields, choose, people }: FiltersProps) {
  const say = auditWords()
  const action = useSignal(fields.action)
  const user = useSignal(fields.user)
  const target = useSignal(shownTarget(fields))
  const from = useSignal(fields.from)
  const until = useSignal(fields.until)
  const wrong = useSignal<{ target?: string; until?: string }>({})
  const form = useRef<HTMLFormElement>(null)
  const texts = { user, target, from, until }
  const actions: AuditAction[] = []
  for (const name in say.actions) if (isAction(name)) actions.push(name)
  const submit = () => {
    const meant = targetsMeant(target.value.trim(), action.value)
    wrong.value = {
      ...(meant.length > 1 && { target: say.several(meant.join(', ')) }),
      ...(from.value !== '' && until.value !== '' && until.value < from.value && { until: say.reversed }),
    }
    if (Object.keys(wrong.value).length > 0) return focusWrong(form.current)
    choose({
      action: action.value,
      user: user.value.trim(),
      target: meant[0] ?? target.value.trim(),
      from: from.value,
      until: until.value,
    })
  }
  return (
    <form
      class="filters audit-filters"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label>
        <span>{say.action}</span>
        <select
          value={action.value}
          onChange={({ currentTarget: { value } }) => {
            action.value = isAction(value) ? value : ''
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
          list="audit-people"
          maxLength={LONGEST}
          value={user.value}
          onInput={({ currentTarget }) => {
            user.value = currentTarget.value
          }}
        />
      </label>
      <datalist id="audit-people">
        {people.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        <span>{say.target}</span>
        <input
          type="text"
          autoCapitalize="none"
          spellcheck={false}
          list="audit-targets"
          maxLength={LONGEST}
          aria-invalid={wrong.value.target !== undefined}
          aria-describedby={wrong.value.target && 'audit-target-error'}
          value={target.value}
          onInput={({ currentTarget }) => {
            target.value = currentTarget.value
          }}
        />
      </label>
      <datalist id="audit-targets">
        {targets.value?.map(({ id, name }) => (
          <option key={id} value={name || id}>
            {id}
          </option>
        ))}
      </datalist>
      {(['from', 'until'] as const).map((edge) => (
        <label key={edge}>
          <span>{say[edge]}</span>
          <input
            type="date"
            aria-invalid={edge === 'until' && wrong.value.until !== undefined}
            aria-describedby={edge === 'until' && wrong.value.until ? 'audit-until-error' : undefined}
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
      {Object.values(fields).some((text) => text !== '') && (
        <button
          type="button"
          class="button"
          onClick={() => {
            action.value = ''
            for (const text of Object.values(texts)) text.value = ''
            wrong.value = {}
            choose(NO_FIELDS)
          }}
        >
          {say.clear}
        </button>
      )}
      <Said id="audit-target" hint={undefined} error={wrong.value.target} />
      <Said id="audit-until" hint={undefined} error={wrong.value.until} />
    </form>
  )
}

/** A container as people write it. */
function shownTarget({ target, action }: Fields): string {
  const name = targets.peek()?.find(({ id }) => id === target)?.name
  return name && targetsMeant(name, action).length === 1 ? name : target
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
