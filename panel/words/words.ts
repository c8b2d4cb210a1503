import { signal } from '@preact/signals'
import { createTranslation } from '../nouns/from-service.ts'
import { fr, type LaterWords, type Words } from './fr.ts'

export type Language = 'fr' | 'en'

interface Spoken {
  language: Language
  words: Words
  /** Undefined in French: the pages that use these words load them. */
  later?: LaterWords
  fromService(text: string): string
}

/** The service itself speaks French. */
const FRENCH: Spoken = { language: 'fr', words: fr, fromService: (text) => text }
const spoken = signal(FRENCH)

/** The panel's texts in the user's language. Read them during rendering, because they change with the language. */
export function words(): Words {
  return spoken.value.words
}

/** The later words of another language than French. */
export function laterWords(): LaterWords | undefined {
  return spoken.value.later
}

/** French sentences of errors that load later; undefined until then. */
const frenchErrors = signal<Readonly<Record<string, string>>>()

/** The sentences of the errors that `words().errors` does not have, by code; undefined while they are not loaded. */
export function laterErrors(): Readonly<Record<string, string>> | undefined {
  return spoken.value.later?.laterErrors ?? frenchErrors.value
}

/** Loads them. Without them, errors have the service's own sentences. Never rejects. */
export async function loadErrors(): Promise<void> {
  try {
    frenchErrors.value = (await import('./fr/later-errors.ts')).laterErrors
  } catch {
    frenchErrors.value = {}
  }
}

/** Translates a sentence of the service into the user's language; unknown sentences stay unchanged. */
export function fromService(text: string): string {
  return spoken.value.fromService(text)
}

export function language(): Language {
  return spoken.value.language
}

export async function speak(next: Language): Promise<void> {
  const chosen = next === 'fr' ? FRENCH : await english()
  document.documentElement.lang = next
  spoken.value = chosen
}

async function english(): Promise<Spoken> {
  const { en, later, sentences } = await import('./en.ts')
  return { language: 'en', words: en, later, fromService: createTranslation(sentences) }
}
