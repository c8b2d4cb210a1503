import { signal } from '@preact/signals'
import { safeLink } from '../nouns/links.ts'
import { type Shortcut, shortcutsIn } from '../nouns/shortcuts.ts'
import { api, atSignOut } from './panel.ts'

/** Where the shortcuts of the dashboard and the modules lead; undefined until it is known. */
export const places = signal<readonly Shortcut[]>()

export async function readPlaces(): Promise<void> {
  const [{ dashboard_shortcuts }, modules] = await Promise.all([
    api('GET /api/settings/public'),
    api('GET /api/modules'),
  ])
  const ofModules = modules.flatMap(({ is_core, is_enabled, nav_href, nav_label, name }) => {
    const href = safeLink(nav_href)
    // The panel's own are its pages.
    return is_enabled && !is_core && href ? [{ label: nav_label ?? name, href }] : []
  })
  places.value = [...shortcutsIn(dashboard_shortcuts), ...ofModules]
}

atSignOut(() => {
  places.value = undefined
})
