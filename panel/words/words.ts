import { signal } from '@preact/signals'
import { fr, type Words } from './fr.ts'

export type Language = 'fr' | 'en'

const spoken = signal<{ language: Language; words: Words }>({ language: 'fr', words: fr })

/** What the panel says, in the language of who looks. Read where it is shown: it changes with the language. */
export function words(): Words {
  return spoken.value.words
}

export function language(): Language {
  return spoken.value.language
}

export async function speak(next: Language): Promise<void> {
  const chosen = next === 'fr' ? fr : (await import('./en.ts')).en
  document.documentElement.lang = next
  spoken.value = { language: next, words: chosen }
}
