import { listApiTokens } from '../../db/access/api-tokens.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'
import { shownToken } from './token.ts'

/** Lists the API tokens of everybody, without the tokens themselves. Roles have the names that `tokens create` takes. */
export default defineCommand({
  name: 'tokens',
  summary: 'lister les jetons d’API',

  async run(_, { db, clock }) {
    const now = clock()
    const tokens = (await listApiTokens(db)).map((row) => shownToken(row, now))
    if (tokens.length === 0) return 'Il n’y a aucun jeton d’API.'
    const rows = tokens.map(({ id, username, name, role, effective_role, targets, expires_at, last_used_at }) => [
      String(id),
      escapeControl(username),
      escapeControl(name),
      effective_role === null ? `${role} (refusé)` : effective_role,
      targets === 'all' ? 'toutes les cibles' : targets.join(','),
      `expire : ${expires_at ?? 'jamais'}`,
      `utilisé : ${last_used_at ?? 'jamais'}`,
    ])
    const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length))) ?? []
    const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
    return rows.map((row) => line(row).trimEnd()).join('\n')
  },
})
