import { listUsers } from '../../db/users.ts'
import { timestamp } from '../../runtime/clock.ts'
import { defineCommand } from '../../runtime/command-line.ts'
import { visible } from '../../runtime/visible.ts'

/** Lists who has signed in so far. */
export default defineCommand({
  name: 'users',
  summary: 'lister les utilisateurs qui se sont connectés',

  async run(_, { db, clock }) {
    const users = (await listUsers(db, timestamp(clock()))).map((user) => ({
      ...user,
      username: visible(user.username),
    }))
    if (users.length === 0) return 'Personne ne s’est encore connecté.'
    const width = Math.max(...users.map(({ username }) => username.length))
    const lines = users.map(({ username, is_admin, last_login_at, sessions }) => {
      const role = is_admin ? 'administrateur' : 'utilisateur   '
      return `${username.padEnd(width)}  ${role}  ${last_login_at ?? 'jamais'}  sessions : ${sessions}`
    })
    return lines.join('\n')
  },
})
