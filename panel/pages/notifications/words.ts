import { notifications } from '../../words/fr/notifications.ts'
import { laterWords } from '../../words/words.ts'

/** The texts about notifications, in the user's language. They load with their page. */
export function notificationWords(): typeof notifications {
  return laterWords()?.notifications ?? notifications
}
