import { unbarAccount } from '../../db/access/users.ts'
import { findUserByName } from '../../db/users.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'

/** Lifts the bar of an account, also that of the last administrator. */
export default defineCommand({
  name: 'users unbar',
  summary: 'admettre de nouveau un compte exclu',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const user = await findUserByName(context.db, username)
    const shown = escapeControl(username)
    if (!user) throw new CommandError(`l’utilisateur « ${shown} » ne s’est jamais connecté.`)
    const entry = auditStatement(context, atConsole(context.operator), 'account_unbarred', { target: username })
    const isLifted = await unbarAccount(context.db, user.id, entry)
    return isLifted ? `${shown} est de nouveau admis.` : `${shown} n’était pas exclu.`
  },
})
