import css from '../../style/later/access.css' with { type: 'text' }
import { access } from '../../words/fr/access.ts'
import { laterWords } from '../../words/words.ts'
import { addLaterStyle } from '../later-style.ts'

addLaterStyle(css)

/** The texts about factors, roles, tokens and people, in the user's language. They load with what shows them, and with its style. */
export function accessWords(): typeof access {
  return laterWords()?.access ?? access
}
