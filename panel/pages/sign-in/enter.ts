import { signal } from '@preact/signals'
import { prefer, shown } from '../../preferences.ts'
import { visits } from '../../router.ts'
import { me, signIn } from '../../wire/panel.ts'

/** The language that the user has chosen before the sign-in. */
export const chosen = signal<'fr' | 'en'>()

/** Signs in with what `ask` sends, as far as that goes, and keeps the chosen language. */
export async function enter(ask: () => Promise<unknown>): Promise<void> {
  const asked = async () => {
    await ask()
    // The address stays, but another page comes: its heading takes the focus.
    visits.value += 1
  }
  await signIn(asked, shown())
  const lang = chosen.peek()
  if (me.peek() && lang) await prefer({ lang })
}
