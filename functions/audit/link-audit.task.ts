import { setImmediate as turn } from 'node:timers/promises'
import { linkEntries } from '../../db/access/audit-chain.ts'
import { timestamp } from '../../platform/clock.ts'
import { defineTask } from '../services.ts'

/** Entries of one transaction, and transactions of one run: a log of an earlier version is linked in bounded steps. */
const STEP = 500
const STEPS = 20
/** Much longer than any transaction takes. */
const SETTLED_MS = 600_000

/** Links new entries of the audit log to those before them. */
export default defineTask({
  name: 'link-audit',
  every: 10,

  async run({ db, clock }) {
    const settled = timestamp(new Date(clock().getTime() - SETTLED_MS))
    for (let step = 0; step < STEPS; step++) {
      if ((await linkEntries(db, STEP, settled)) < STEP) return
      // A local database answers without a turn of the event loop.
      await turn()
    }
  },
})
