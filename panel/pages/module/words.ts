import css from '../../style/later/module.css' with { type: 'text' }
import { addLaterStyle } from '../../parts/later-style.ts'
import { module } from '../../words/fr/module.ts'
import { language, laterWords, words } from '../../words/words.ts'

addLaterStyle(css)

/** The texts of a module's page, in the user's language. They load with it, and with its style. */
export function moduleWords(): typeof module {
  return laterWords()?.module ?? module
}

/** A text of the module in the user's language. */
export function said(text: { fr: string; en: string }): string {
  return text[language()]
}

/** The words with which values are written. */
export function valueWords() {
  const { yes, no, nothing } = moduleWords()
  return { yes, no, nothing, units: words().shell.units }
}
