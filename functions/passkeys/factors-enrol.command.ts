import { addUnknownUser } from '../../db/access/passkeys.ts'
import { findHostAccountByName } from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, type CommandContext, defineCommand } from '../../runtime/command.ts'
import { Failure } from '../../runtime/errors.ts'
import { createHost, isAccountName, SshError } from '../../ssh/ssh.ts'
import { CHALLENGE_SECONDS, createChallenge } from '../factors/challenges.ts'
import { newPasskeyChallenge } from '../factors/passkeys.ts'
import { relyingPartyOf } from '../factors/relying-party.ts'
import { auditStatement, createSettings } from '../services.ts'
import { isUsable } from './enrolment-link.ts'

/** A request of nobody: what `PANEL_PUBLIC_URL` alone decides. */
const NO_REQUEST = { host: undefined, secure: false }

/** Makes a one-time link by which a person without a password registers a passkey for an account of the host. */
export default defineCommand({
  name: 'factors enrol',
  summary: 'créer un lien par lequel un utilisateur sans mot de passe enregistre une clé d’accès',
  args: ['utilisateur'],

  async run({ args: [username = ''] }, context) {
    const { db, clock, config } = context
    const shown = escapeControl(username)
    if (!isAccountName(username)) throw new CommandError(`« ${shown} » ne peut pas être le nom d’un compte.`)
    if (!config.passkeySignIn)
      throw new CommandError('une clé d’accès seule ne connecte personne : définissez PANEL_PASSKEY_SIGN_IN=on.')
    if (config.trustsProxies && !config.publicUrl)
      throw new CommandError('derrière un proxy, les clés d’accès demandent PANEL_PUBLIC_URL.')
    if (config.publicUrl && !relyingPartyOf(context, NO_REQUEST))
      throw new CommandError(
        'PANEL_PUBLIC_URL doit être une adresse https: avec un nom : une adresse IP n’a pas de clés d’accès.',
      )
    const known = await findHostAccountByName(db, username)
    if (known && known.barred_at !== null)
      throw new CommandError(`un administrateur a exclu « ${shown} » de ce panneau.`)
    await expectAccount(context, username)
    await addUnknownUser(db, username, timestamp(clock()))
    const user = await findHostAccountByName(db, username)
    if (!user) throw new CommandError(`l’utilisateur « ${shown} » n’a pas pu être créé.`)
    const entry = auditStatement(context, atConsole(context.operator), 'enrolment_link_made', { target: username })
    const data = { challenge: newPasskeyChallenge() }
    const code = await createChallenge(context, { userId: user.id, purpose: 'console', data }, [entry])
    const place = config.publicUrl ?? 'https://<adresse du panneau>'
    return [
      `Lien pour ${shown}, valable une fois et ${CHALLENGE_SECONDS.console / 60} minutes :`,
      `${place}/enrol#code=${code}`,
      'Qui l’ouvre enregistre une clé d’accès pour ce compte : ne le donnez qu’à cette personne. L’hôte doit encore connaître le compte.',
    ].join('\n')
  },
})

/**
 * Asks the host for the account, over a connection of the command's own: a misspelt name must leave nothing. Throws a
 * CommandError unless a link for the account could be opened now.
 */
async function expectAccount(context: CommandContext, username: string): Promise<void> {
  const shown = escapeControl(username)
  const host = createHost({ settings: createSettings(context), log: context.log })
  try {
    const seen = await host.inspect(username)
    if (seen === 'gone' || seen.name !== username)
      throw new CommandError(`l’hôte ne connaît pas de compte « ${shown} ».`)
    if (!isUsable(seen))
      throw new CommandError(
        `« ${shown} » ne peut pas travailler sur l’hôte (shell sans commandes, mot de passe à changer, compte expiré).`,
      )
  } catch (error) {
    if (!(error instanceof SshError || error instanceof Failure)) throw error
    throw new CommandError(`l’hôte n’a pas dit s’il connaît « ${shown} », et aucun lien n’est créé : ${error.message}`)
  } finally {
    host.close()
  }
}
