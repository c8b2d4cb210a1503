import css from '../../style/later/service-key.css' with { type: 'text' }
import { serviceKey } from '../../words/fr/service-key.ts'
import { laterWords } from '../../words/words.ts'
import { addLaterStyle } from '../later-style.ts'

addLaterStyle(css)

/** The texts about the key of the service account, in the user's language. They load with what shows them, and with its style. */
export function serviceKeyWords(): typeof serviceKey {
  return laterWords()?.serviceKey ?? serviceKey
}
