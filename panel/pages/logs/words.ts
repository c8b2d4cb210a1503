import { logs } from '../../words/fr/logs.ts'
import { laterWords } from '../../words/words.ts'

/** The texts of the service's log, in the user's language. They load with it. */
export function logsWords(): typeof logs {
  return laterWords()?.logs ?? logs
}
