import { barringAccount } from '../../db/access/users.ts'
import { withCount } from '../../db/audit.ts'
import { endSessions } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { namedUser } from './named-user.ts'

/** Bars an account from the panel, as an administrator does there. The console may bar every account. */
export default defineCommand({
  name: 'users bar',
  summary: 'exclure un compte du panneau : ses sessions se terminent, ses connexions sont refusées',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { db, clock, operator } = context
    const { user, shown } = await namedUser(context, username)
    const at = timestamp(clock())
    const entry = auditStatement(context, atConsole(operator), 'account_barred', { target: username })
    const ended = await endSessions(db, { userId: user.id }, at, (count) =>
      barringAccount(user.id, operator, at, withCount(entry, 'sessions', count)),
    )
    return `${shown} est exclu ; sessions terminées : ${ended}. Les services en marche l’appliquent en moins d’une minute.`
  },
})
