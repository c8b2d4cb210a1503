import { terminal } from '../words/fr/terminal.ts'
import { laterWords } from '../words/words.ts'

/** The texts of the terminal, in the user's language. They load with it. */
export function terminalWords(): typeof terminal {
  return laterWords()?.terminal ?? terminal
}
