import { listAccounts } from '../../db/access/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'
import { ROLES } from '../../runtime/context.ts'
import { rightsFrom } from '../auth/host-account.ts'

const ROLE_WIDTH = Math.max(...ROLES.map((role) => role.length))

/** Lists the users who have signed in. Roles have the names that `tokens create` takes. */
export default defineCommand({
  name: 'users',
  summary: 'lister les utilisateurs qui se sont connectés',

  async run(_, { db, clock }) {
    const users = (await listAccounts(db, timestamp(clock()))).map((user) => ({
      ...user,
      username: escapeControl(user.username),
    }))
    if (users.length === 0) return 'Personne ne s’est encore connecté.'
    const width = Math.max(...users.map(({ username }) => username.length))
    const lines = users.map(({ username, last_login_at, sessions, barred_at, barred_by, ...user }) => {
      const { role, operates } = rightsFrom(user)
      const columns = [
        username.padEnd(width),
        role.padEnd(ROLE_WIDTH),
        last_login_at ?? 'jamais',
        `sessions : ${sessions}`,
        ...(operates !== 'all' && operates.length > 0 ? [`cibles : ${operates.join(', ')}`] : []),
        ...(barred_at === null ? [] : [`exclu le ${barred_at} par ${escapeControl(barred_by ?? '?')}`]),
      ]
      return columns.join('  ')
    })
    return lines.join('\n')
  },
})
