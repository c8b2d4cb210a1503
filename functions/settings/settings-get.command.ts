import { escapeControl } from '../../platform/escape-control.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { createSettings } from '../services.ts'
import { ConsoleChange } from './fields.ts'

/** Shows one setting or all that a person may set. Of a secret it shows only whether it is set. */
export default defineCommand({
  name: 'settings get',
  summary: 'afficher les réglages, ou un seul',
  args: ['réglage?'],

  async run({ args: [name] }, context) {
    const shown = Object.entries(await createSettings(context).show())
      .map(([key, value]) =>
        typeof value === 'string'
          ? ([key, value] as const)
          : ([key.replace(/_set$/, ''), value ? '(défini)' : '(absent)'] as const),
      )
      .filter(([key]) => Object.hasOwn(ConsoleChange.shape, key))
    if (name === undefined) return shown.map(([key, value]) => escapeControl(`${key}=${value}`)).join('\n')
    const found = shown.find(([key]) => key === name)
    if (!found)
      throw new CommandError(`réglage inconnu « ${name} ». Possibles : ${shown.map(([key]) => key).join(', ')}.`)
    return found[1]
  },
})
