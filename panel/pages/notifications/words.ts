import { ago } from '../../nouns/format.ts'
import type { Delivery } from '../../nouns/notification.ts'
import { now } from '../../parts/time.tsx'
import { notifications } from '../../words/fr/notifications.ts'
import { language, laterWords } from '../../words/words.ts'

/** The texts about notifications, in the user's language. They load with their page. */
export function notificationWords(): typeof notifications {
  return laterWords()?.notifications ?? notifications
}

/** The time of the next attempt in words: “next try in 5 min”. `at` is RFC 3339. */
export function nextSaid(at: string, state: Delivery['state'] = 'waiting'): string {
  const say = notificationWords()
  const ms = Date.parse(at)
  // An attempt that is due begins within some seconds.
  const when = ms > now.value ? (ago(ms, now.value, language()) ?? say.soon) : say.soon
  return state === 'quiet' ? say.afterQuiet(when) : say.nextTry(when)
}
