import { newestLink } from '../../db/access/audit-chain.ts'
import { defineTask } from '../services.ts'

/**
 * Writes the newest link of the audit log into the service's log, which may be kept on another machine: with it,
 * `ops-panel audit verify` finds a log that was written anew as a whole, or whose end was cut off.
 */
export default defineTask({
  name: 'note-audit',
  every: 3_600,

  async run({ db, log }) {
    const newest = await newestLink(db)
    if (newest) log.info({ link: `${newest.id}:${newest.hash}` }, 'the newest link of the audit log')
  },
})
