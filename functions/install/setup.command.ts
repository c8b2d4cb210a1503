import { atConsole, auditStatement } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'
import { speakFrench } from '../../runtime/french.ts'
import type { Prompt } from '../../runtime/prompt.ts'
import { createSettings } from '../../runtime/settings.ts'
import { createSetupToken } from '../../runtime/setup-token.ts'
import { parseAddress } from '../../runtime/ssh-address.ts'
import { readHostKey } from '../../runtime/ssh-connection.ts'
import { SshHost, SshPassword, SshUsername } from '../settings/fields.ts'
import { checkHost } from './host-check.ts'
import { describeCheck } from './wizard.ts'

/** What the wizard does, in a terminal: asks, tries, shows the host's key, and stores. */
export default defineCommand({
  name: 'setup',
  summary: 'installer : indiquer l’hôte et le compte de service, les vérifier, les enregistrer',
  data: 'made',

  async run(_, context) {
    const { prompt, config, log } = context
    const settings = createSettings(context)
    if (await settings.hasSshHost())
      throw new CommandError('l’installation est déjà faite. Voir « settings get » et « settings set ».')
    speakFrench()
    const ssh_host = await askUntil(prompt, 'Hôte (hôte, hôte:port ou [IPv6]:port) : ', SshHost)
    const server = parseAddress(ssh_host)
    if (!server) throw new CommandError('adresse invalide.')
    // Before any password is typed: whoever answers there would be given it.
    const hostKey = await readHostKey(server).catch((error: Error): never => {
      throw new CommandError(`aucun serveur SSH ne répond à ${ssh_host} (${error.message}).`)
    })
    if (!(await agrees(prompt, `Clé de l’hôte : ${hostKey}\nEst-ce bien la sienne ?`)))
      throw new CommandError('rien n’a été enregistré.')
    const ssh_username = await askUntil(prompt, 'Compte de service (root, par exemple) : ', SshUsername)
    const ssh_password = await prompt.askSecret(`Mot de passe de ${ssh_username} : `)
    if (!SshPassword.min(1).safeParse(ssh_password).success) throw new CommandError('il faut un mot de passe.')

    const account = { address: ssh_host, ...server, hostKey, username: ssh_username, password: ssh_password }
    prompt.say('Vérification de l’hôte…')
    const { checks } = await checkHost(account, log)
    const text = checks.map(describeCheck).join('\n')
    if (checks.some(({ id, ok }) => !ok && (id === 'reachable' || id === 'authenticated'))) return { text, ok: false }
    if (
      checks.some(({ ok, optional }) => !ok && !optional) &&
      !(await agrees(prompt, `${text}\nInstaller quand même ?`))
    )
      throw new CommandError('rien n’a été enregistré.')

    const entry = auditStatement(context, atConsole(context.operator), 'installed', { target: ssh_host })
    if (!(await settings.install({ ssh_host, ssh_username, ssh_password, ssh_host_key: hostKey }, entry)))
      throw new CommandError('l’installation a été faite entre-temps.')
    await createSetupToken(config.dataDir).remove()
    return `${text}\nInstallation terminée : connectez-vous avec un compte de l’hôte.`
  },
})

async function agrees(prompt: Prompt, question: string): Promise<boolean> {
  return /^(o|oui|y|yes)$/i.test((await prompt.ask(`${question} (oui/non) `)).trim())
}

async function askUntil(prompt: Prompt, question: string, field: typeof SshHost | typeof SshUsername): Promise<string> {
  for (;;) {
    const parsed = field.safeParse((await prompt.ask(question)).trim())
    if (parsed.success) return parsed.data
    question = `${parsed.error.issues[0]?.message ?? ''}. ${question.replace(/^.*\. /, '')}`
  }
}
