import { unbarAccount } from '../../db/access/users.ts'
import { atConsole } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { namedUser } from './named-user.ts'

/** Lifts the bar of an account, also that of the last administrator. */
export default defineCommand({
  name: 'users unbar',
  summary: 'admettre de nouveau un compte exclu',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { user, shown } = await namedUser(context, username)
    const entry = auditStatement(context, atConsole(context.operator), 'account_unbarred', { target: username })
    const isLifted = await unbarAccount(context.db, user.id, entry)
    return isLifted ? `${shown} est de nouveau admis.` : `${shown} n’était pas exclu.`
  },
})
