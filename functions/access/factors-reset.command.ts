import { listFactors, removingEveryFactor } from '../../db/access/factors.ts'
import { withCount } from '../../db/audit.ts'
import { endSessions } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { namedUser } from './named-user.ts'

/** Removes the second factors of a user who has lost them, and ends the user's sessions. */
export default defineCommand({
  name: 'factors reset',
  summary: 'supprimer les seconds facteurs d’un utilisateur, et terminer ses sessions',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { db, clock } = context
    const { user, shown } = await namedUser(context, username)
    const factors = (await listFactors(db, user.id)).length
    const note = { target: username, details: { factors } }
    const entry = auditStatement(context, atConsole(context.operator), 'factors_reset', note)
    const sessions = await endSessions(db, { userId: user.id }, timestamp(clock()), (count) => [
      withCount(entry, 'sessions', count),
      ...removingEveryFactor(user.id),
    ])
    return `Seconds facteurs de ${shown} supprimés : ${factors}. Sessions terminées : ${sessions}. Les services en marche l’appliquent en moins d’une minute.`
  },
})
