import { audit } from '../../words/fr/audit.ts'
import { laterWords } from '../../words/words.ts'

/** The texts of the audit log, in the user's language. They load with its page. */
export function auditWords(): typeof audit {
  return laterWords()?.audit ?? audit
}
