import { protection } from './fr/protection.ts'
import { laterWords } from './words.ts'

/** The texts about protected upgrades, in the user's language. They load with the pages that show them. */
export function protectionWords(): typeof protection {
  return laterWords()?.protection ?? protection
}
