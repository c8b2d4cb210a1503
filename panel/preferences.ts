import { type Language, language, speak } from './words/words.ts'

export const THEMES = ['dark', 'light'] as const
const KEPT = 'ops-panel.preferences'

interface Preferences {
  lang: string
  /** Without one, the one before. */
  theme?: string | undefined
}

/** Shows the panel so, and remembers it in this browser for who signs in next. */
export async function show({ lang, theme = document.documentElement.dataset.theme }: Preferences): Promise<void> {
  const spoken: Language = lang === 'en' ? 'en' : 'fr'
  const shown = THEMES.find((each) => each === theme)
  if (shown) document.documentElement.dataset.theme = shown
  try {
    localStorage.setItem(KEPT, JSON.stringify({ lang: spoken, theme: shown }))
  } catch {
    // Not allowed here: it is asked for again.
  }
  await speak(spoken)
}

/** What was shown last in this browser; else what it asks for. */
export function remembered(): Preferences {
  try {
    const { lang, theme } = JSON.parse(localStorage.getItem(KEPT) ?? '{}')
    if (lang) return { lang: String(lang), theme: theme && String(theme) }
  } catch {
    // Not ours.
  }
  // The first of those that somebody reads, and the panel speaks.
  const wanted = navigator.languages.map((each) => each.slice(0, 2).toLowerCase())
  return { lang: wanted.find((each) => each === 'fr' || each === 'en') ?? 'en' }
}

/** What is shown now: where no theme was asked for, the one that the browser prefers. */
export function shown(): { lang: Language; theme: (typeof THEMES)[number] } {
  const theme = THEMES.find((each) => each === document.documentElement.dataset.theme)
  const preferred = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
  return { lang: language(), theme: theme ?? preferred }
}
