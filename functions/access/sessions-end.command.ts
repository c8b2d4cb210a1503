import { withCount } from '../../db/audit.ts'
import { endSessions } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { namedUser } from './named-user.ts'

/** Ends every session of a user, for example after the user lost rights on the host. */
export default defineCommand({
  name: 'sessions end',
  summary: 'terminer toutes les sessions d’un utilisateur',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { db, clock } = context
    const { user, shown } = await namedUser(context, username)
    const entry = auditStatement(context, atConsole(context.operator), 'sessions_ended', { target: username })
    const ended = await endSessions(db, { userId: user.id }, timestamp(clock()), (count) =>
      withCount(entry, 'sessions', count),
    )
    if (ended === 0) return `${shown} n’a aucune session.`
    return `Sessions de ${shown} terminées : ${ended}. Les services en marche l’appliquent en moins d’une minute.`
  },
})
