import { setup } from '../../words/fr/setup.ts'
import { laterWords } from '../../words/words.ts'

/** The texts of the wizard, in the user's language. They load with its page. */
export function setupWords(): typeof setup {
  return laterWords()?.setup ?? setup
}
