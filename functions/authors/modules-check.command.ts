import { escapeControlLines } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'
import { checkFolder, existingFolder } from './check-folder.ts'
import { described } from './described.ts'

/** Checks the folder of a module without a service: what it declares, or each fault. */
export default defineCommand({
  name: 'modules check',
  summary: 'vérifier le dossier d’un module avant de le publier',
  data: 'none',
  args: ['dossier'],

  async run({ args: [typed = ''] }) {
    const folder = await existingFolder(typed)
    const checked = await checkFolder(folder)
    const { faults, remarks } = checked
    const end = [
      ...remarks.map((remark) => `Remarque : ${remark}`),
      ...(faults.length === 0 ? ['Aucun défaut.'] : faults.map((fault) => `Défaut : ${fault}`)),
    ]
    return { text: escapeControlLines([...described(checked), ...end].join('\n')), ok: faults.length === 0 }
  },
})
