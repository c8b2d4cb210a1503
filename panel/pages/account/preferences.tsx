import { useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api, me } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

interface Changed {
  lang?: 'fr' | 'en'
  theme?: 'dark' | 'light'
  sidebar_position?: 'left' | 'right'
}

/** Language, theme and side: shown at once, kept by the service. */
export function Preferences() {
  const say = words().account
  const store = useAct(async (changed: Changed) => {
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
  })
  const { lang, theme, sidebar_position } = me.value ?? {}
  return (
    <section aria-label={say.preferences}>
      <h2>{say.preferences}</h2>
      <Problem error={store.error.value} />
      <div class="preferences">
        <Choice
          label={say.language}
          value={lang}
          of={{ fr: say.languages.fr, en: say.languages.en }}
          choose={(lang) => store.run({ lang })}
        />
        <Choice
          label={say.theme}
          value={theme}
          of={{ dark: say.themes.dark, light: say.themes.light }}
          choose={(theme) => store.run({ theme })}
        />
        <Choice
          label={say.side}
          value={sidebar_position}
          of={{ left: say.sides.left, right: say.sides.right }}
          choose={(sidebar_position) => store.run({ sidebar_position })}
        />
      </div>
    </section>
  )
}

/** What was changed, as it was before. */
function restored<all extends object>(before: all, changed: Partial<all>): Partial<all> {
  const entries = Object.entries(before).filter(([name]) => name in changed)
  return Object.assign({}, ...entries.map(([name, value]) => ({ [name]: value })))
}
