import { api, me } from './wire/panel.ts'
import { type Language, language, speak } from './words/words.ts'

export const THEMES = ['dark', 'light'] as const
const STORAGE_KEY = 'ops-panel.preferences'

interface Preferences {
  lang: string
  /** Defaults to the current theme. */
  theme?: string | undefined
}

/** Applies language and theme, and stores them in this browser for the next user. */
export async function show({ lang, theme = document.documentElement.dataset.theme }: Preferences): Promise<void> {
  const spoken: Language = lang === 'en' ? 'en' : 'fr'
  const shown = THEMES.find((each) => each === theme)
  if (shown) document.documentElement.dataset.theme = shown
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ lang: spoken, theme: shown }))
  } catch {
    // The browser does not allow storage, so nothing is kept.
  }
  await speak(spoken)
}

/** The last preferences in this browser; otherwise the languages that it asks for. */
export function remembered(): Preferences {
  try {
    const { lang, theme } = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}')
    if (lang) return { lang: String(lang), theme: theme && String(theme) }
  } catch {
    // The stored value is not ours.
  }
  // The first language of the user that the panel supports.
  const wanted = navigator.languages.map((each) => each.slice(0, 2).toLowerCase())
  return { lang: wanted.find((each) => each === 'fr' || each === 'en') ?? 'en' }
}

/** The current preferences; without a chosen theme, the one that the browser prefers. */
export function shown(): { lang: Language; theme: (typeof THEMES)[number] } {
  const theme = THEMES.find((each) => each === document.documentElement.dataset.theme)
  const preferred = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
  return { lang: language(), theme: theme ?? preferred }
}

interface Changed {
  lang?: 'fr' | 'en'
  theme?: 'dark' | 'light'
  sidebar_position?: 'left' | 'right'
}

/** Applies a preference at once and saves it; restores the earlier value when saving fails. */
export async function prefer(changed: Changed): Promise<void> {
  const before = me.value
  if (!before) return
  me.value = { ...before, ...changed }
  try {
    await api('PATCH /api/auth/preferences', { body: changed })
  } catch (error) {
    // The user may have signed out, or changed another preference, in the meantime.
    if (me.value) me.value = { ...me.value, ...restored(before, changed) }
    throw error
  }
}

/** The earlier values of the changed preferences. */
function restored<all extends object>(before: all, changed: Partial<all>): Partial<all> {
  const entries = Object.entries(before).filter(([name]) => name in changed)
  return Object.assign({}, ...entries.map(([name, value]) => ({ [name]: value })))
}
