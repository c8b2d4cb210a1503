import { useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Problem } from '../../parts/problem.tsx'
import { prefer } from '../../preferences.ts'
import { me } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

/** Language, theme and sidebar: changes apply at once, and the service stores them. */
export function Preferences() {
  const say = words().account
  const store = useAct(prefer)
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
