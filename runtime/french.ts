import * as z from 'zod'
import fr from 'zod/v4/locales/fr.js'

/** From here on what zod says of a rejected field is French. */
export function speakFrench(): void {
  z.config(fr())
}
