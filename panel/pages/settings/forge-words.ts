import { addLaterStyle } from '../../parts/later-style.ts'
import css from '../../style/later/forge.css' with { type: 'text' }
import { forge } from '../../words/fr/forge.ts'
import { laterWords } from '../../words/words.ts'

addLaterStyle(css)

/** The texts of the forge in the settings, in the user's language. They load with the page of the settings, and so does its style. */
export function forgeWords(): typeof forge {
  return laterWords()?.forge ?? forge
}
