import { parseAddress } from '../../platform/addresses.ts'
import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand, type Prompt } from '../../runtime/command.ts'
import { speakFrench } from '../../runtime/input.ts'
import { authorizedLine, readHostKey, SshHost, SshPassword, SshUsername } from '../../ssh/ssh.ts'
import { auditStatement, createSettings, type Settings } from '../services.ts'
import { checkHost } from './host-check.ts'
import { KEY_PARTS } from './key-parts.ts'
import { createSetupToken } from './setup-token.ts'
import { describeCheck } from './wizard.ts'

/**
 * The setup page's procedure in a terminal: asks for the settings, tests them, shows the host's key, and stores them.
 */
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
    const { ssh_host, server, hostKey } = await untilRight(prompt, () => askHost(prompt))
    if (!(await agrees(prompt, `Clé de l’hôte : ${hostKey}\nEst-ce bien la sienne ?`)))
      throw new CommandError('rien n’a été enregistré.')
    const { checks, text, refused, ...account } = await untilRight(prompt, async () => {
      const asked = await askAccount(prompt, settings)
      const { ssh_username: username, ssh_password: password, ssh_key: key } = asked
      prompt.say('Vérification de l’hôte…')
      const { checks } = await checkHost({ address: ssh_host, ...server, hostKey, username, password, key }, log)
      const text = checks.map(describeCheck).join('\n')
      const refused = checks.some(({ id, ok }) => !ok && (id === 'reachable' || id === 'authenticated'))
      if (refused && prompt.interactive) throw new CommandError(text)
      return { ...asked, checks, text, refused }
    })
    if (refused) return { text, ok: false }
    if (
      checks.some(({ ok, optional }) => !ok && !optional) &&
      !(await agrees(prompt, `${text}\nInstaller quand même ?`))
    )
      throw new CommandError('rien n’a été enregistré.')

    const entry = auditStatement(context, atConsole(context.operator), 'installed', { target: ssh_host })
    if (!(await settings.install({ ssh_host, ...account, ssh_host_key: hostKey }, entry)))
      throw new CommandError('l’installation a été faite entre-temps.')
    await createSetupToken(config.dataDir).remove()
    return `${text}\nInstallation terminée : connectez-vous avec un compte de l’hôte.`
  },
})

/**
 * At a terminal, shows the error and asks again. From a pipe it stops, because the next line answers another question.
 */
async function untilRight<result>(prompt: Prompt, work: () => Promise<result>): Promise<result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof CommandError && prompt.interactive)) throw error
      prompt.startOver(error.message)
    }
  }
}

/** Reads the host's key before anyone types a password: the password goes to whatever machine answers. */
async function askHost(prompt: Prompt) {
  const ssh_host = await askUntil(prompt, 'Hôte (hôte, hôte:port ou [IPv6]:port) : ', SshHost)
  const server = parseAddress(ssh_host)
  if (!server) throw new CommandError('adresse invalide.')
  const hostKey = await readHostKey(server).catch((error: Error): never => {
    throw new CommandError(`aucun serveur SSH ne répond à ${ssh_host} (${error.message}).`)
  })
  return { ssh_host, server, hostKey }
}

/** Without a password, the account gets a key of the service's own. */
async function askAccount(prompt: Prompt, settings: Settings) {
  const ssh_username = await askUntil(prompt, 'Compte de service (root, par exemple) : ', SshUsername)
  prompt.say('Sans mot de passe (une ligne vide), le service fait une clé SSH pour ce compte.')
  const ssh_password = await prompt.askSecret(`Mot de passe de ${ssh_username} : `)
  if (!SshPassword.safeParse(ssh_password).success) throw new CommandError('il faut un autre mot de passe.')
  if (ssh_password !== '') return { ssh_username, ssh_password }
  const key = await settings.nextSshKey()
  const parts = KEY_PARTS.map(({ text, message }) => `  ${text} : ${message}`)
  prompt.say(
    [`Ajoutez cette ligne à ~${ssh_username}/.ssh/authorized_keys, sur l’hôte :`, authorizedLine(key), ...parts].join(
      '\n',
    ),
  )
  if (!(await agrees(prompt, 'La ligne est-elle ajoutée ?'))) throw new CommandError('rien n’a été enregistré.')
  return { ssh_username, ssh_password, ssh_key: key.privateKey }
}

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
