import { listModules } from '../../db/modules.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { defineCommand } from '../../runtime/command.ts'

/** Lists the installed modules, without the panel's built-in ones. */
export default defineCommand({
  name: 'modules list',
  summary: 'lister les modules installés',

  async run(_, { db }) {
    const modules = (await listModules(db)).filter(({ is_core }) => is_core === 0)
    if (modules.length === 0) return 'Aucun module n’est installé.'
    const width = Math.max(...modules.map(({ id }) => id.length))
    return modules
      .map(({ id, version, is_enabled, backend, repository }) => {
        const state = is_enabled ? 'activé   ' : 'désactivé'
        const code = backend === null ? '' : '  avec du code'
        return escapeControl(
          `${id.padEnd(width)}  ${state}  ${version}${code}${repository === null ? '' : `  ${repository}`}`,
        )
      })
      .join('\n')
  },
})
