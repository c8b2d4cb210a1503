import { useState } from 'preact/hooks'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/problem.tsx'
import { callModule, type Section } from '../../wire/module-page.ts'
import { messageOf, Told } from './told.tsx'
import { moduleWords, said } from './words.ts'

interface ActionSectionProps {
  of: Extract<Section, { kind: 'action' }>
  changed(): void
}

/** A button of a module, with its result beside it. */
export function ActionSection({
  of: { label, help, call, body, confirm: question, danger },
  changed,
}: ActionSectionProps) {
  const [told, tell] = useState<string>()
  const say = moduleWords()
  const act = useAct(async () => {
    tell(undefined)
    if (question && !(await confirm({ title: said(label), text: <p>{said(question)}</p>, verb: said(label), danger })))
      return
    const answer = await callModule(call, body ? { body: {} } : {})
    tell(messageOf(answer) ?? say.done(said(label)))
    changed()
  })
  return (
    <section aria-label={said(label)} class="module-action">
      {help && <p class="dim">{said(help)}</p>}
      <div class="module-acts">
        <Action act={act} class={danger ? 'danger' : ''}>
          {said(label)}
        </Action>
        <Told text={told} />
      </div>
      <Problem error={act.error.value} />
    </section>
  )
}
