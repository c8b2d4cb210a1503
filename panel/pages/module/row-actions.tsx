import { valueAt } from '../../nouns/module-values.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/problem.tsx'
import { callModule, type Section } from '../../wire/module-page.ts'
import { leavesModule } from './bridge.ts'
import { messageOf } from './told.tsx'
import { moduleWords, said } from './words.ts'

export type RowAction = Extract<Section, { kind: 'table' }>['actions'][number]

interface RowActionsProps {
  actions: readonly RowAction[]
  row: unknown
  /** The name of the row for screen readers and questions. */
  name: string
  /** Tells the result under the table, where it stays when the row is gone. */
  tell(text: string | undefined): void
  changed(): void
}

/** The actions of a row, with their errors under them. */
export function RowActions({ actions, ...rest }: RowActionsProps) {
  return (
    <div class="module-acts">
      {actions.map((action) => (
        <RowButton key={action.call} action={action} {...rest} />
      ))}
    </div>
  )
}

function RowButton({ action, row, name, tell, changed }: Omit<RowActionsProps, 'actions'> & { action: RowAction }) {
  const { label, call, params, body, confirm: question, danger } = action
  const say = moduleWords()
  const title = say.actionOf(said(label), name)
  const act = useAct(async () => {
    tell(undefined)
    const take = (names: readonly string[]) => Object.fromEntries(names.map((each) => [each, valueAt(row, each)]))
    // A row may have the name of one of the panel's own actions on the module.
    if (leavesModule(call, take(params))) return tell(say.bridge.notDeclared)
    if (question && !(await confirm({ title, text: <p>{said(question)}</p>, verb: said(label), danger }))) return
    const answer = await callModule(call, { params: take(params), ...(body && { body: take(body) }) })
    tell(messageOf(answer) ?? say.done(title))
    changed()
  })
  return (
    <>
      <Action act={act} class={danger ? 'small danger' : 'small'} label={title}>
        {said(label)}
      </Action>
      <Problem error={act.error.value} />
    </>
  )
}
