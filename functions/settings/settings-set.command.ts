import { atConsole } from '../../runtime/audit.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { speakFrench } from '../../runtime/input.ts'
import { FORGE_ERRORS } from '../forge/codes.ts'
import { boundToken } from '../forge/settings.ts'
import { auditStatement, createSettings, SETTINGS } from '../services.ts'
import { changeEvent } from './change-event.ts'
import { given, ConsoleChange } from './fields.ts'

/**
 * The console may trust a host without a new password: its user can read the stored one in the data folder. The key
 * stays required, to protect the password from a mistyped address.
 */
const KEY_STAYS =
  'La clé d’hôte déjà acceptée reste exigée : si c’est une autre machine, changez aussi ssh_host_key, pour son empreinte (laissez-le vide pour accepter la prochaine clé présentée).'

/**
 * Changes one setting. Asks for a value that is missing, and always for a secret, because process lists show arguments.
 */
export default defineCommand({
  name: 'settings set',
  summary: 'changer un réglage ; sans valeur, elle est demandée (un secret toujours)',
  args: ['réglage', 'valeur?'],

  async run({ args: [name = '', argument] }, context) {
    const names = Object.keys(ConsoleChange.shape)
    if (!names.includes(name)) throw new CommandError(`réglage inconnu « ${name} ». Possibles : ${names.join(', ')}.`)
    const secret = SETTINGS.secrets.some((each) => each === name)
    if (secret && argument !== undefined)
      throw new CommandError(`${name} est un secret : ne le donnez pas en argument, il est demandé.`)
    const question = `${name} : `
    const value = argument ?? (secret ? await context.prompt.askSecret(question) : await context.prompt.ask(question))
    speakFrench()
    const parsed = ConsoleChange.safeParse({ [name]: value })
    if (!parsed.success)
      throw new CommandError(`${name} : ${parsed.error.issues.map(({ message }) => message).join(' ; ')}`)
    const settings = createSettings(context)
    const bound = boundToken(given(parsed.data), await settings.show(), context.config.forge)
    if (!bound) throw new CommandError(FORGE_ERRORS.forge_url_required[1])
    const changed = await settings.change(
      bound.values,
      (details, keys) => [
        auditStatement(context, atConsole(context.operator), 'settings_changed', { details }),
        changeEvent(context, { username: context.operator, keys }),
      ],
      bound.removed,
    )
    if (changed.length === 0) return 'Rien n’a changé.'
    const lines = [
      `Enregistré : ${changed.join(', ')}. Un service en marche en tient compte dès sa prochaine commande.`,
    ]
    const staysKey = changed.includes('ssh_host') && (await settings.show()).ssh_host_key !== ''
    return staysKey ? [...lines, KEY_STAYS].join('\n') : lines.join('\n')
  },
})
