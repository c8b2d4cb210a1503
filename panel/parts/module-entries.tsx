import { useEffect } from 'preact/hooks'
import { match, route, visits } from '../router.ts'
import { menuEntries, readMenuEntries } from '../wire/module-page.ts'
import { Icon } from './icon.tsx'
import { moduleIcon } from './module-icons.ts'

/** One file with the entries: both draw the icons of modules, which the first load does not contain. */
export { readPlaces } from './places.ts'

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
