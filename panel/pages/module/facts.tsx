import { valueAt } from '../../nouns/module-values.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { callModule, type Section } from '../../wire/module-page.ts'
import { Value } from './value.tsx'
import { said } from './words.ts'

interface FactsSectionProps {
  of: Extract<Section, { kind: 'facts' }>
  changes: number
}

/** Single values, each with its name. */
export function FactsSection({ of: { title, from, fields, refresh }, changes }: FactsSectionProps) {
  const load = useLoad((signal) => callModule(from, { signal }), [from, changes], {
    ...(refresh !== null && { everyMs: refresh * 1000 }),
  })
  return (
    <section aria-label={title ? said(title) : undefined}>
      {title && <h2>{said(title)}</h2>}
      <Loaded of={load} rows={fields.length}>
        {(answer) => (
          <dl class="module-facts">
            {fields.map(({ field, label, as }) => (
              <div key={field}>
                <dt>{said(label)}</dt>
                <dd>
                  <Value of={valueAt(answer, field)} as={as} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
    </section>
  )
}
