import { readSigningKeys } from '../../db/signing-keys.ts'
import { defineCommand } from '../../runtime/command.ts'
import { signingKeyOf } from '../../sessions/sessions.ts'

const UNREADABLE = 'Aucune ne peut être déchiffrée : PANEL_SECRET_KEY n’est pas la clé du service.'

/** Lists the signing keys that are not revoked, newest first, and marks the one that signs. */
export default defineCommand({
  name: 'keys list',
  summary: 'lister les clés de signature',

  async run(_, context) {
    const signing = await signingKeyOf(context, context.config.jwtKey)
    const keys = await readSigningKeys(context.db)
    const lines = keys.map(({ kid, created_at }) => `${kid}  ${created_at}  ${kid === signing ? 'signe' : 'vérifie'}`)
    if (signing === undefined && keys.length > 0) lines.push(UNREADABLE)
    return lines.join('\n') || 'Aucune clé.'
  },
})
