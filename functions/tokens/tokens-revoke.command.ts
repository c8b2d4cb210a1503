import { findApiTokenById, removeApiToken } from '../../db/access/api-tokens.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { toldToken } from './token.ts'

/** Revokes an API token, whoever owns it. */
export default defineCommand({
  name: 'tokens revoke',
  summary: 'révoquer un jeton d’API',
  args: ['numéro'],

  async run({ args: [typed = ''] }, context) {
    const { db, operator } = context
    const row = /^\d{1,15}$/.test(typed) ? await findApiTokenById(db, Number(typed)) : undefined
    const missing = () => new CommandError(`il n’y a pas de jeton « ${escapeControl(typed)} » (voir ops-panel tokens).`)
    if (!row) throw missing()
    const told = toldToken(row)
    const entry = auditStatement(context, atConsole(operator), 'token_revoked', {
      ...told,
      details: { ...told.details, id: row.id, owner: row.username },
    })
    if (!(await removeApiToken(db, row.id, entry))) throw missing()
    const shown = `${escapeControl(row.name)} (${escapeControl(row.username)})`
    return `Jeton révoqué : ${shown}. Les services en marche l’appliquent en moins d’une minute.`
  },
})
