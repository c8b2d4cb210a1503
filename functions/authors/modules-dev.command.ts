import { defineCommand } from '../../runtime/command.ts'
import { existingFolder } from './check-folder.ts'
import { createDevService } from './dev-service.ts'
import { develop } from './develop.ts'

/** Serves the module of a folder while its author changes it. Ends by Ctrl-C. */
export default defineCommand({
  name: 'modules dev',
  summary: 'essayer un module pendant qu’on l’écrit (service sans hôte, rechargé à chaque changement)',
  data: 'none',
  args: ['dossier'],

  async run({ args: [typed = ''] }, { clock, prompt }) {
    const folder = await existingFolder(typed)
    // A configured port belongs to the installed service, which a proxy may publish.
    const service = await createDevService({ port: 0 }, clock)
    await develop(folder, { service, account: 'dev, mot de passe dev', say: prompt.say })
    return 'Arrêté.'
  },
})
