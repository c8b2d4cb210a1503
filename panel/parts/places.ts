import { safeLink, shortcutsIn } from '../nouns/links.ts'
import { places } from '../wire/palette.ts'
import { api } from '../wire/panel.ts'
import { moduleIcon } from './module-icons.ts'

/** Reads the links of dashboard shortcuts and of modules, which have the icons of the menu, for the palette. */
export async function readPlaces(): Promise<void> {
  const [{ dashboard_shortcuts }, modules] = await Promise.all([
    api('GET /api/settings/public'),
    api('GET /api/modules'),
  ])
  const ofModules = modules.flatMap(({ is_core, is_enabled, nav_href, nav_label, nav_icon, name }) => {
    const href = safeLink(nav_href)
    // Core modules are pages of the panel.
    if (!is_enabled || is_core || !href) return []
    return [{ label: nav_label ?? name, href, drawn: moduleIcon(nav_icon) }]
  })
  places.value = [...shortcutsIn(dashboard_shortcuts), ...ofModules]
}
