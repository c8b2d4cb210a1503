import { signal } from '@preact/signals'
import { prefer, shown } from '../../preferences.ts'
import { me, signIn } from '../../wire/panel.ts'

/** The language that the user has chosen before the sign-in. */
export const chosen = signal<'fr' | 'en'>()

/** Signs in with what `ask` sends, as far as that goes, and keeps the chosen language. */
export async function enter(ask: () => Promise<unknown>): Promise<void> {
  await signIn(ask, shown())
  const lang = chosen.peek()
  if (me.peek() && lang) await prefer({ lang })
}
