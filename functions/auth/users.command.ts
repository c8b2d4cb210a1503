import { listUsers } from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'

/** Lists the users who have signed in. */
export default defineCommand({
  name: 'users',
  summary: 'lister les utilisateurs qui se sont connectés',

  async run(_, { db, clock }) {
    const users = (await listUsers(db, timestamp(clock()))).map((user) => ({
      ...user,
      username: escapeControl(user.username),
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
