import { type Signal, signal, useSignal } from '@preact/signals'
import { ArrowDown, ArrowUp, Trash2 } from 'lucide'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { type Shortcut, safeLink, shortcutsIn } from '../../nouns/links.ts'
import { moved } from '../../nouns/order.ts'
import { useAct } from '../../parts/action.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { Section } from './section.tsx'

interface Row {
  id: number
  label: Signal<string>
  href: Signal<string>
  /** Stored fields other than label and address. */
  more: Partial<Shortcut>
}

interface ShortcutsProps {
  /** The list as the service stores it. */
  stored: string
  mark(isUnsaved: boolean): void
  onSaved(): Promise<void>
}

let last = 0
const rowOf = ({ label, href, ...more }: Shortcut): Row => ({
  id: ++last,
  label: signal(label),
  href: signal(href),
  more,
})

/** The dashboard shortcuts: named, ordered, and validated before saving. */
export function Shortcuts({ stored, mark, onSaved }: ShortcutsProps) {
  const say = words().settings
  const form = useRef<HTMLFormElement>(null)
  const before = useMemo(() => shortcutsIn(stored), [stored])
  const rows = useSignal<readonly Row[]>([])
  const tried = useSignal(false)
  useEffect(() => {
    rows.value = before.map(rowOf)
  }, [before])
  const now = rows.value.map(({ label, href, more }) => ({
    label: label.value.trim(),
    href: href.value.trim(),
    ...more,
  }))
  const isUnsaved = JSON.stringify(now) !== JSON.stringify(before)
  const save = useAct(async () => {
    tried.value = true
    if (now.some(({ label, href }) => !label || !safeLink(href))) return focusWrong(form.current)
    await api('PUT /api/settings/public', { body: { dashboard_shortcuts: JSON.stringify(now) } })
    tried.value = false
    mark(false)
    toast(say.shortcutsSaved)
    await onSaved()
  })
  const hasNewRow = useRef(false)
  const add = () => {
    rows.value = [...rows.value, rowOf({ label: '', href: '' })]
    hasNewRow.current = true
  }
  // With the render of the row: a later focus would take the letters that the user types elsewhere by then.
  useLayoutEffect(() => {
    if (!hasNewRow.current) return
    hasNewRow.current = false
    form.current?.querySelector<HTMLElement>('li:last-of-type input')?.focus()
  }, [rows.value])
  const move = (row: Row, by: number) => {
    const ids = moved(
      rows.value.map(({ id }) => id),
      row.id,
      by,
    )
    rows.value = ids.flatMap((id) => rows.value.find((each) => each.id === id) ?? [])
  }
  const remove = (row: Row) => {
    rows.value = rows.value.filter(({ id }) => id !== row.id)
    form.current?.querySelector<HTMLElement>('.add')?.focus()
  }
  return (
    <Section
      title={say.shortcuts}
      note={say.shortcutsNote}
      form={form}
      save={save}
      isUnsaved={isUnsaved}
      mark={mark}
      beside={
        <button type="button" class="button add" onClick={add}>
          {say.add}
        </button>
      }
    >
      {rows.value.length === 0 && <p class="dim">{say.noShortcuts}</p>}
      <ul class="shortcut-rows">
        {rows.value.map((row, n) => {
          const name = row.label.value || say.shortcut(n + 1)
          const wrongHref = tried.value && !safeLink(row.href.value)
          return (
            <li key={row.id}>
              <Field
                name={`label-${n}`}
                label={say.label}
                value={row.label}
                error={tried.value && !row.label.value.trim() ? say.labelMissing : undefined}
              />
              <Field
                name={`href-${n}`}
                label={say.href}
                value={row.href}
                error={wrongHref ? say.hrefWrong : undefined}
              />
              <span class="tools">
                <IconButton label={say.up(name)} icon={ArrowUp} disabled={n === 0} act={() => move(row, -1)} />
                <IconButton
                  label={say.down(name)}
                  icon={ArrowDown}
                  disabled={n === rows.value.length - 1}
                  act={() => move(row, 1)}
                />
                <IconButton label={say.remove(name)} icon={Trash2} act={() => remove(row)} />
              </span>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

interface IconButtonProps {
  label: string
  icon: typeof ArrowUp
  disabled?: boolean
  act(): void
}

function IconButton({ label, icon, disabled = false, act }: IconButtonProps) {
  return (
    <button
      type="button"
      class="button plain"
      aria-label={label}
      aria-disabled={disabled}
      onClick={() => {
        if (!disabled) act()
      }}
    >
      <Icon of={icon} />
    </button>
  )
}
