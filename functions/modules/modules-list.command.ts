import { listModules } from '../../db/modules.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'

/** Lists the installed modules, without the panel's built-in ones, and why the service has taken one out. */
export default defineCommand({
  name: 'modules list',
  summary: 'lister les modules installés',

  async run(_, { db }) {
    const modules = (await listModules(db)).filter(({ is_core }) => is_core === 0)
    if (modules.length === 0) return 'Aucun module n’est installé.'
    const width = Math.max(...modules.map(({ id }) => id.length))
    return modules
      .flatMap(({ id, version, is_enabled, backend, repository, fault }) => {
        const isOut = is_enabled === 1 && fault !== null
        const state = isOut ? 'à l’écart' : is_enabled ? 'activé   ' : 'désactivé'
        const code = backend === null ? '' : '  avec du code'
        const line = `${id.padEnd(width)}  ${state}  ${version}${code}${repository === null ? '' : `  ${repository}`}`
        return isOut ? [line, `${' '.repeat(width)}  ${fault}`] : [line]
      })
      .map(escapeControl)
      .join('\n')
  },
})
