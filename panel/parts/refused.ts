import { useRef } from 'preact/hooks'
import { fieldErrors } from '../nouns/failure.ts'
import { stillRefused } from '../nouns/refused.ts'
import { fromService } from '../words/words.ts'

interface Refused {
  /** Why each field is refused, in the reader's language, until its value changes. */
  wrong: Readonly<Record<string, string>>
  /** The error to show below the form: none once every refused field was changed. */
  error: unknown
  /** Call it as the values are sent. */
  noteSent(): void
}

/** The refused fields of a form whose values are `typed`: an error goes away while somebody corrects its field. */
export function useRefused(error: unknown, typed: unknown): Refused {
  const sent = useRef<unknown>(undefined)
  const newest = useRef(typed)
  newest.current = typed
  const errors = fieldErrors(error)
  const left = Object.entries(stillRefused(errors, { sent: sent.current, typed }))
  const isCorrected = Object.keys(errors).length > 0 && left.length === 0
  return {
    wrong: Object.fromEntries(left.map(([field, message]) => [field, fromService(message)])),
    error: isCorrected ? undefined : error,
    noteSent() {
      sent.current = newest.current
    },
  }
}
