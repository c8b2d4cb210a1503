import type { ComponentChildren, RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Act, Action } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { words } from '../../words/words.ts'

interface SectionProps {
  title: string
  note: string
  form: RefObject<HTMLFormElement | null>
  save: Act<[]>
  isUnsaved: boolean
  /** Called when the section gets or loses unsaved changes. */
  mark(isUnsaved: boolean): void
  /** Buttons before the one that saves. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** A section of the settings that is saved on its own. */
export function Section({ title, note, form, save, isUnsaved, mark, beside, children }: SectionProps) {
  useEffect(() => {
    mark(isUnsaved)
  }, [isUnsaved])
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p class="dim">{note}</p>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save.run()
        }}
      >
        {children}
        <Problem error={save.error.value} />
        <div class="buttons">
          {beside}
          <Action act={save} type="submit" class={isUnsaved ? 'primary' : ''}>
            {words().settings.save}
          </Action>
        </div>
      </form>
    </section>
  )
}
