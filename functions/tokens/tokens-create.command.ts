import { addApiToken } from '../../db/access/api-tokens.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { newApiToken } from '../../sessions/sessions.ts'
import { namedUser } from '../access/named-user.ts'
import { rightsFrom } from '../auth/host-account.ts'
import { auditStatement } from '../services.ts'
import { exceeds, expiryOf, MOST_TOKENS, NewToken, toldToken } from './token.ts'

/**
 * Makes an API token for a user who has signed in before, with at most that user's rights. The token is the only line of
 * the output, so that a script can store it.
 */
export default defineCommand({
  name: 'tokens create',
  summary: 'créer un jeton d’API, affiché une seule fois ; il expire après 90 jours',
  args: ['utilisateur', 'rôle', 'nom', 'cibles?'],
  flags: { 'never-expires': 'le jeton n’expire jamais' },

  async run({ args: [username = '', role, name, targets = 'all'], flags }, context) {
    const { db, secrets, clock, operator } = context
    const { user, shown } = await namedUser(context, username)
    const wanted = NewToken.safeParse({ name, role, targets: targets === 'all' ? targets : targets.split(',') })
    if (!wanted.success) throw new CommandError(WRONG[String(wanted.error.issues[0]?.path[0])] ?? WRONG.targets)
    if (exceeds(rightsFrom(user), wanted.data))
      throw new CommandError(`un jeton ne peut pas avoir plus de droits que ${shown}.`)
    const now = clock()
    const expires_at = expiryOf(flags.has('never-expires') ? { expires_at: null } : {}, now) ?? null
    const { token, hash } = newApiToken(secrets)
    const made = { ...wanted.data, user_id: user.id, hash, expires_at }
    const told = toldToken(made)
    const note = { ...told, details: { ...told.details, owner: username } }
    const entry = auditStatement(context, atConsole(operator), 'token_created', note)
    const added = await addApiToken(db, made, { now: timestamp(now), most: MOST_TOKENS, entry })
    if (!added) throw new CommandError(`${shown} a déjà ${MOST_TOKENS} jetons : révoquez-en un.`)
    return token
  },
})

const WRONG: Readonly<Record<string, string>> & { targets: string } = {
  role: 'le rôle est viewer, operator ou admin.',
  name: 'un nom de 1 à 64 caractères, sans caractères invisibles.',
  targets: 'les cibles sont « all », ou une liste comme host,lxc:101.',
}
