import { applications } from '../../words/fr/applications.ts'
import { laterWords } from '../../words/words.ts'

/** The texts about applications, in the user's language. They load with the pages that show them. */
export function applicationWords(): typeof applications {
  return laterWords()?.applications ?? applications
}
