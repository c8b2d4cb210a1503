import type { Bearer } from '../sessions/sessions.ts'

/** Makes the user of an access token: an administrator, or somebody who works on all targets; proven at `now`. */
export function bearerOf(
  { isAdmin = false, sid = '1', ...user }: { id: number; username: string; isAdmin?: boolean; sid?: string },
  now: Date,
): Bearer {
  const role = isAdmin ? 'admin' : 'operator'
  return { ...user, role, operates: 'all', sid, proven: now.getTime() / 1000, enrolling: false }
}
