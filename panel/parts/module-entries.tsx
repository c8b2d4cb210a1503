import { useEffect } from 'preact/hooks'
import { safeLink, shortcutsIn } from '../nouns/links.ts'
import { match, route, visits } from '../router.ts'
import { menuEntries, readMenuEntries } from '../wire/module-page.ts'
import { places } from '../wire/palette.ts'
import { api } from '../wire/panel.ts'
import { Icon } from './icon.tsx'
import { moduleIcon } from './module-icons.ts'

/** The entries of modules in the menu, in the order of the modules. They load after the first page. */
export function ModuleEntries() {
  const visit = visits.value
  useEffect(() => {
    // Without them, the menu has the panel's own pages.
    if (!menuEntries.peek()) readMenuEntries().catch(() => {})
  }, [visit])
  const at = route.value
  return (
    <>
      {(menuEntries.value ?? []).map(({ id, label, icon, href }) => {
        const own = href.startsWith('/') ? match(href) : undefined
        const isCurrent = own?.page === 'module' && at?.page === 'module' && own.params.module === at.params.module
        return (
          <li key={id} class="wide">
            <a href={href} aria-current={isCurrent ? 'page' : undefined} title={label}>
              <Icon of={moduleIcon(icon)} />
              <span class="cut">{label}</span>
            </a>
          </li>
        )
      })}
    </>
  )
}

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
