import { endSessions } from '../../db/sessions.ts'
import { readSigningKeys, revokeOtherSigningKeys } from '../../db/signing-keys.ts'
import { writeConsoleAudit } from '../../runtime/audit.ts'
import { timestamp } from '../../runtime/clock.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'
import { isSealedBy, rotateSigningKey } from '../../runtime/signing-keys.ts'

/**
 * Adds a signing key, which running instances take within a minute, in place of `PANEL_JWT_KEY` too; old tokens verify
 * until they expire. After a leak, `--revoke` makes every other key worthless for good.
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
    const kid = await rotateSigningKey(context)
    const lines = [`Nouvelle clé de signature : ${kid}`, 'Les services en marche la prennent en moins d’une minute.']
    if (!flags.has('revoke')) {
      await writeConsoleAudit(context, 'keys_rotated', { target: kid })
      return [...lines, 'Les jetons déjà émis restent valables jusqu’à leur expiration.'].join('\n')
    }
    const now = timestamp(clock())
    const revoked = await revokeOtherSigningKeys(db, kid, now)
    const sessions = await endSessions(db, 'all', now)
    await writeConsoleAudit(context, 'keys_rotated', { target: kid, details: { revoked, sessions } })
    return [...lines, `Anciennes clés révoquées : ${revoked}. Sessions terminées : ${sessions}.`].join('\n')
  },
})
