import { registry } from '../../words/fr/registry.ts'
import { laterWords } from '../../words/words.ts'

/** The words of the forge's list, which the first load does not contain. */
export function registryWords(): typeof registry {
  return laterWords()?.registry ?? registry
}
