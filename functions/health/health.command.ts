import { askHealth } from '../../runtime/ask-health.ts'
import { CommandError, defineCommand } from '../../runtime/command-line.ts'

/** For what watches over the service: prints what `/api/health` answers, and ends with 1 when all is not well. */
export default defineCommand({
  name: 'health',
  summary: 'demander au service en marche s’il va bien (code 0, sinon 1)',
  data: 'none',

  async run(_, { config }) {
    try {
      return await askHealth(config)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandError(`le service ne répond pas (${reason}).`)
    }
  },
})
