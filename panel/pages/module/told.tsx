import { valueAt } from '../../nouns/module-values.ts'
import { Status } from '../../parts/status.tsx'

const MAX_MESSAGE = 300

/** The message in a module's answer, if it has one. */
export function messageOf(answer: unknown): string | undefined {
  const message = valueAt(answer, 'message')
  return typeof message === 'string' && message.trim() ? message.slice(0, MAX_MESSAGE) : undefined
}

/** The result of an action, where it was started. */
export function Told({ text }: { text: string | undefined }) {
  return (
    <p class="module-told" role="status">
      {text !== undefined && <Status is="ok">{text}</Status>}
    </p>
  )
}
