import { useState } from 'preact/hooks'
import { rowsIn, type ShownAs, shownValue, valueAt } from '../../nouns/module-values.ts'
import { localeOf } from '../../nouns/format.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { callModule, type Section } from '../../wire/module-page.ts'
import { language } from '../../words/words.ts'
import { RowActions } from './row-actions.tsx'
import { Told } from './told.tsx'
import { isNumber, Value } from './value.tsx'
import { moduleWords, said, valueWords } from './words.ts'

interface TableSectionProps {
  of: Extract<Section, { kind: 'table' }>
  changes: number
  changed(): void
}

/** A list of a module, each row with its actions. */
export function TableSection({ of: section, changes, changed }: TableSectionProps) {
  const { title, from, refresh } = section
  const load = useLoad((signal) => callModule(from, { signal }), [from, changes], {
    ...(refresh !== null && { everyMs: refresh * 1000 }),
  })
  /** The result of an action whose row may be gone. */
  const [told, tell] = useState<string>()
  return (
    <section aria-label={title ? said(title) : undefined}>
      {title && <h2>{said(title)}</h2>}
      <Loaded of={load}>{(answer) => <Rows of={section} answer={answer} tell={tell} changed={changed} />}</Loaded>
      <Told text={told} />
    </section>
  )
}

interface RowsProps {
  of: TableSectionProps['of']
  answer: unknown
  tell(text: string | undefined): void
  changed(): void
}

function Rows({ of: { title, rows: path, key: keyField, columns, actions, empty }, answer, tell, changed }: RowsProps) {
  const say = moduleWords()
  const found = rowsIn(answer, path)
  if (!found) return <p class="empty">{say.noList}</p>
  const { rows, all } = found
  if (all === 0) return <p class="empty">{empty ? said(empty) : say.empty}</p>
  const count = (n: number) => n.toLocaleString(localeOf(language()))
  return (
    <>
      {rows.length < all && <p class="dim">{say.shown(count(rows.length), count(all))}</p>}
      <section
        class="scroll"
        aria-label={title ? said(title) : say.title}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key.
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              {columns.map(({ field, label, as }) => (
                <th key={field} scope="col" class={isNumber(as) ? 'end' : undefined}>
                  {said(label)}
                </th>
              ))}
              {actions.length > 0 && (
                <th scope="col">
                  <span class="unseen">{say.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, n) => {
              const name = nameOf(row, keyField)
              return (
                <tr key={`${name} ${isTwice(rows, n, keyField) ? n : ''}`}>
                  {columns.map(({ field, as }) => (
                    <td key={field} class={isNumber(as) ? 'end' : undefined}>
                      <Value of={valueAt(row, field)} as={as} />
                    </td>
                  ))}
                  {actions.length > 0 && (
                    <td class="module-row-acts">
                      <RowActions
                        actions={actions}
                        row={row}
                        name={rowName(row, columns, name)}
                        tell={tell}
                        changed={changed}
                      />
                    </td>
                  )}
                </tr>
              )
            })}
          </tbody>
        </table>
      </section>
    </>
  )
}

/** A row without a key of its own is known by its place. */
function isTwice(rows: readonly unknown[], n: number, keyField: string): boolean {
  const name = nameOf(rows[n], keyField)
  return name === '' || (n > 0 && nameOf(rows[n - 1], keyField) === name)
}

function nameOf(row: unknown, keyField: string): string {
  const key = valueAt(row, keyField)
  return typeof key === 'string' || typeof key === 'number' ? String(key).slice(0, 200) : ''
}

/** The first column names a row for screen readers. */
function rowName(row: unknown, [first]: readonly { field: string; as: ShownAs }[], name: string): string {
  return first ? shownValue(valueAt(row, first.field), first.as, language(), valueWords()).slice(0, 80) : name
}
