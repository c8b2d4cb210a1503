import { api, me } from './panel.ts'

interface Changed {
  lang?: 'fr' | 'en'
  theme?: 'dark' | 'light'
  sidebar_position?: 'left' | 'right'
}

/** Shows the panel so at once, and has the service keep it; as before when it does not. */
export async function prefer(changed: Changed): Promise<void> {
  const before = me.value
  if (!before) return
  me.value = { ...before, ...changed }
  try {
    await api('PATCH /api/auth/preferences', { body: changed })
  } catch (error) {
    // Nobody may have signed out meanwhile, or changed another one.
    if (me.value) me.value = { ...me.value, ...restored(before, changed) }
    throw error
  }
}

/** What was changed, as it was before. */
function restored<all extends object>(before: all, changed: Partial<all>): Partial<all> {
  const entries = Object.entries(before).filter(([name]) => name in changed)
  return Object.assign({}, ...entries.map(([name, value]) => ({ [name]: value })))
}
