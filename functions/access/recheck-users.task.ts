import { accountsToAsk, type AskingTimes, claimAsking } from '../../db/access/users.ts'
import type { HostAccount } from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { endAccount, recheckAbsent } from '../auth/host-account.ts'
import { defineTask, type Services } from '../services.ts'

const MINUTE = 60_000
/**
 * Rights older than this are asked for again. With the interval of the task and the time of a silent instance's claim this
 * stays below the 15 minutes within which lost rights must be gone.
 */
const CONFIRMED_MS = 8 * MINUTE
/** A page that is open refreshes its token, and so uses its session, every 15 minutes. */
const USED_MS = 20 * MINUTE
/** An instance that has claimed an account and does not ask about it loses the claim. */
const CLAIM_MS = MINUTE
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * MINUTE
/** Accounts that one run asks about, and questions at the same time. The others wait a minute. */
const MOST = 500
const AT_ONCE = 4

/**
 * Asks the host about every account that is in use. Changed rights are stored, and count from the next refresh; the
 * sessions of an account that has ended there end everywhere. Instances share the accounts. Where the host does not
 * answer, nothing changes: refreshes and API tokens then decide for themselves.
 */
export default defineTask({
  name: 'recheck-users',
  every: 60,

  async run(services) {
    const now = services.clock().getTime()
    const at = (ms: number) => timestamp(new Date(now + ms))
    const times = { now: at(0), confirmedSince: at(-CONFIRMED_MS), usedSince: at(-USED_MS), ahead: at(SKEW_MS) }
    const accounts = (await accountsToAsk(services.db, times, MOST)).values()
    const askInTurn = async () => {
      for (const account of accounts) await ask(services, account, times, at(CLAIM_MS))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, askInTurn))
  },
})

async function ask(services: Services, account: HostAccount, times: AskingTimes, until: string): Promise<void> {
  if (!(await claimAsking(services.db, account.id, times, until))) return
  const rights = await recheckAbsent(services, account, 'host')
  if (typeof rights !== 'string') return
  await endAccount(services, account, rights, { address: 'host', tokensToo: account.rights_at !== null })
  services.log.info(
    { username: account.username, reason: rights },
    'an account has ended on the host: it is signed out',
  )
}
