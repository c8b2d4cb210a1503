import { listApiTokens } from '../../db/access/api-tokens.ts'
import { withCount } from '../../db/audit.ts'
import { endingSessions } from '../../db/sessions.ts'
import { countOtherSigningKeys, readSigningKeys, revokeOtherSigningKeys } from '../../db/signing-keys.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { isSealedBy, rotateSigningKey } from '../../sessions/sessions.ts'
import { auditStatement } from '../services.ts'

/**
 * Adds a signing key. Running instances use it within a minute, also instead of `PANEL_JWT_KEY`; old tokens stay valid
 * until they expire. After a leak, `--revoke` permanently revokes every other key.
 */
export default defineCommand({
  name: 'keys rotate',
  summary: 'ajouter une clé de signature ; les jetons déjà émis restent valables',
  flags: { revoke: 'révoquer aussi les anciennes clés et terminer toutes les sessions (clé compromise)' },

  async run({ flags }, context) {
    const { db, secrets, clock } = context
    const before = await readSigningKeys(db)
    if (before.length > 0 && !before.some((key) => isSealedBy(secrets, key)))
      throw new CommandError('PANEL_SECRET_KEY n’est pas la clé du service : il ne pourrait pas lire la nouvelle clé.')
    const now = timestamp(clock())
    const entryOf = (kid: string) =>
      auditStatement(context, atConsole(context.operator), 'keys_rotated', { target: kid })
    if (!flags.has('revoke')) {
      const { kid } = await rotateSigningKey(context, (added) => [entryOf(added)])
      return [...told(kid), 'Les jetons déjà émis restent valables jusqu’à leur expiration.'].join('\n')
    }
    const { kid, changed } = await rotateSigningKey(context, (added) => [
      ...endingSessions('all', now, (sessions) =>
        withCount(withCount(entryOf(added), 'revoked', countOtherSigningKeys(added)), 'sessions', sessions),
      ),
      revokeOtherSigningKeys(added, now),
    ])
    const [sessions, revoked] = changed.slice(-2)
    const apiTokens = (await listApiTokens(db)).length
    return [
      ...told(kid),
      `Anciennes clés révoquées : ${revoked}. Sessions terminées : ${sessions}.`,
      // The owner of an old key could have made some.
      ...(apiTokens > 0 ? [`Les jetons d’API restent valables (${apiTokens}) : voir ops-panel tokens.`] : []),
    ].join('\n')
  },
})

function told(kid: string): string[] {
  return [`Nouvelle clé de signature : ${kid}`, 'Les services en marche la prennent en moins d’une minute.']
}
