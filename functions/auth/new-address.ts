import { signInAddresses } from '../../db/audit.ts'
import type { Database, Statement } from '../../db/libsql/database.ts'
import { signInsGroup } from '../../db/notifications/events.ts'
import { eventStatement } from '../../notifications/notifications.ts'
import { limitKey } from '../../runtime/caller.ts'

/** A sign-in that the host has accepted. */
interface SignIn {
  user: { id: number; username: string }
  address: string
  at: string
}

/**
 * Makes the event of a sign-in from an address from which its user has not signed in before, for the transaction of the
 * session. The first sign-in of a user is none. Of IPv6 the /64 network counts, because a device changes the rest by itself.
 */
export async function newAddressEvents(db: Database, { user, address, at }: SignIn): Promise<Statement[]> {
  const known = new Set((await signInAddresses(db, user)).map(limitKey))
  const place = limitKey(address)
  if (known.size === 0 || known.has(place)) return []
  const key = `sign_in:${user.id}:${place}`
  const details = { username: user.username, address }
  const run = signInsGroup(user.id)
  return [eventStatement({ key, at, event: 'sign_in_from_new_address', target: null, run, details })]
}
