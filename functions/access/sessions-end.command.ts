import { withCount } from '../../db/audit.ts'
import { endSessions } from '../../db/sessions.ts'
import { findUserByName } from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'

/** Ends every session of a user, for example after the user lost rights on the host. */
export default defineCommand({
  name: 'sessions end',
  summary: 'terminer toutes les sessions d’un utilisateur',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { db, clock } = context
    const user = await findUserByName(db, username)
    const shown = escapeControl(username)
    if (!user) throw new CommandError(`l’utilisateur « ${shown} » ne s’est jamais connecté.`)
    const entry = auditStatement(context, atConsole(context.operator), 'sessions_ended', { target: username })
    const ended = await endSessions(db, { userId: user.id }, timestamp(clock()), (count) =>
      withCount(entry, 'sessions', count),
    )
    if (ended === 0) return `${shown} n’a aucune session.`
    return `Sessions de ${shown} terminées : ${ended}. Les services en marche l’appliquent en moins d’une minute.`
  },
})
