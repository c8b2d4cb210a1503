import { accessWords } from '../parts/access/words.ts'
import { Heading } from '../parts/heading.tsx'
import { openKeyMap, SingleKeys } from '../parts/key-map.tsx'
import { targetName } from '../parts/target-name.ts'
import { Ago } from '../parts/time.tsx'
import { me } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { SecondFactors } from './account/factors.tsx'
import { Preferences } from './account/preferences.tsx'
import { Sessions } from './account/sessions.tsx'
import { Tokens } from './account/tokens.tsx'

/** The signed-in user, their preferences, and their sessions. */
export function AccountPage() {
  const { account: say, keys } = words()
  const { roles } = accessWords()
  const { username = '', role = 'viewer', operates, last_login_at } = me.value ?? {}
  return (
    <>
      <Heading title={say.title} note={username} />
      <section aria-label={roles.names[role]}>
        <p>
          <strong>{roles.names[role]}.</strong> {roles.own[role]}{' '}
          {operates && roles.yours(operates.map((target) => targetName(target)).join(', '))}
        </p>
        <p class="dim">{roles.reread}</p>
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
      <SecondFactors />
      <Sessions />
      <Tokens />
    </>
  )
}
