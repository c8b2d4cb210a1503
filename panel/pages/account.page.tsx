import { Heading } from '../parts/heading.tsx'
import { openKeyMap, SingleKeys } from '../parts/key-map.tsx'
import { Ago } from '../parts/time.tsx'
import { me } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { Preferences } from './account/preferences.tsx'
import { Sessions } from './account/sessions.tsx'

/** The signed-in user, their preferences, and their sessions. */
export function AccountPage() {
  const { account: say, keys } = words()
  const { username = '', is_admin = false, last_login_at } = me.value ?? {}
  return (
    <>
      <Heading title={say.title} note={username} />
      <section aria-label={is_admin ? say.admin : say.user}>
        <p>
          <strong>{is_admin ? say.admin : say.user}.</strong> {is_admin ? say.adminMeans : say.userMeans}
        </p>
        {last_login_at && (
          <p class="dim">
            <Ago at={last_login_at} say={say.lastLogin} />
          </p>
        )}
      </section>
      <Preferences />
      <section aria-label={keys.title}>
        <h2>{keys.title}</h2>
        <SingleKeys />
        <button type="button" class="button small below" onClick={openKeyMap}>
          {keys.show}
        </button>
      </section>
      <Sessions />
    </>
  )
}
