import { ExternalLink } from 'lucide'
import { shortcutsIn } from '../../nouns/links.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { api, isAdmin } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

/** Shortcuts that all users share. */
export function ShortcutsCard() {
  const say = words().dashboard
  const load = useLoad((signal) => api('GET /api/settings/public', { signal }))
  return (
    <Loaded of={load} rows={2}>
      {({ dashboard_shortcuts }) => {
        const shortcuts = shortcutsIn(dashboard_shortcuts)
        if (shortcuts.length === 0)
          return (
            <p class="empty">
              {say.noShortcuts} {isAdmin.value && <a href="/settings">{say.addShortcuts}</a>}
            </p>
          )
        return (
          <ul class="list">
            {shortcuts.map(({ label, href }) => {
              const isElsewhere = !href.startsWith('/')
              return (
                <li key={href + label}>
                  <a
                    class="grow cut"
                    href={href}
                    title={label}
                    {...(isElsewhere && { target: '_blank', rel: 'noreferrer noopener' })}
                  >
                    {label}
                  </a>
                  {isElsewhere && <Icon of={ExternalLink} />}
                </li>
              )
            })}
          </ul>
        )
      }}
    </Loaded>
  )
}
