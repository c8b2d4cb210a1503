import { useState } from 'preact/hooks'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { route } from '../router.ts'
import { reconnects } from '../wire/connection.ts'
import { useLoad } from '../wire/load.ts'
import type { ModulePage as Page, Section } from '../wire/module-page.ts'
import { api } from '../wire/panel.ts'
import { ActionSection } from './module/action.tsx'
import { FactsSection } from './module/facts.tsx'
import { FormSection } from './module/form.tsx'
import { ModuleFrame } from './module/frame.tsx'
import { TableSection } from './module/table.tsx'
import { moduleWords, said } from './module/words.ts'

/** The page of a module: what it declares, rendered by the panel, and its own files in a frame. */
export function ModulePage() {
  const say = moduleWords()
  const id = route.value?.params.module ?? ''
  const load = useLoad(
    (signal) => api('GET /api/module-pages/{id}', { params: { id }, signal }),
    [id, reconnects.value],
  )
  const page = load.data.value
  return (
    <>
      <Heading title={page ? (page.title ? said(page.title) : page.name) : say.title} />
      <Loaded of={load} rows={4}>
        {(loaded) => <Parts page={loaded} />}
      </Loaded>
      {load.error.value !== undefined && (
        <p>
          <a href="/modules">{say.modules}</a>
        </p>
      )}
    </>
  )
}

function Parts({ page: { id, name, sections, frame, calls } }: { page: Page }) {
  /** Counts what the sections have changed: each reads again what it shows. */
  const [changes, count] = useState(0)
  const changed = () => count((before) => before + 1)
  if (sections.length === 0 && !frame) return <p class="empty">{moduleWords().noParts}</p>
  return (
    <div class="module-page">
      {sections.map((section, n) => (
        <Part key={`${section.kind} ${n}`} of={section} changes={changes} changed={changed} />
      ))}
      {frame && <ModuleFrame key={frame} id={id} name={name} address={frame} calls={calls} />}
    </div>
  )
}

function Part({ of: section, changes, changed }: { of: Section; changes: number; changed(): void }) {
  switch (section.kind) {
    case 'text':
      return <p class="module-text">{said(section.text)}</p>
    case 'table':
      return <TableSection of={section} changes={changes} changed={changed} />
    case 'facts':
      return <FactsSection of={section} changes={changes} />
    case 'form':
      return <FormSection of={section} changes={changes} changed={changed} />
    case 'action':
      return <ActionSection of={section} changed={changed} />
  }
}
