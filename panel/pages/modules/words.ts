import css from '../../style/later/modules.css' with { type: 'text' }
import { addLaterStyle } from '../../parts/later-style.ts'
import { registry } from '../../words/fr/registry.ts'
import { laterWords } from '../../words/words.ts'

addLaterStyle(css)

/** The words of the forge's list, which the first load does not contain. They load with its style. */
export function registryWords(): typeof registry {
  return laterWords()?.registry ?? registry
}

/** A sentence of the service, which has plain spaces, with no-break spaces where French has no line end. */
export function unbroken(text: string): string {
  return text.replaceAll('« ', '«\u00a0').replaceAll(/ (?=[»:;!?](?:\s|\p{P}|$))/gu, '\u00a0')
}
