import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { answer } from '../../bench/child.ts'
import type { Account } from '../../demo/account.ts'
import { startDemoHost } from '../../demo/host.ts'
import { type Override, type Process, pause } from '../../demo/process.ts'
import { STEPS } from '../../functions/updates/apt.ts'
import { ACCOUNTS, HostQuestion, type HostRun, isOwnContainer, runTitle } from './host.ts'
import { hostOutput } from './host-output.ts'
import { createRandom } from './random.ts'

// The imitated host runs in a separate process, so that it and its jobs outlive the service.

const random = createRandom(Number(process.env.SOAK_SEED))
const runs: HostRun[] = []

/** Prints the output of an upgrade, and records it. */
async function runUpgrade(process: Process): Promise<number> {
  const run: HostRun = { number: runs.length, place: process.place.id, size: 0, sha256: '', whole: false }
  runs.push(run)
  const printed: Buffer[] = []
  try {
    for (const { bytes, pauseMs } of hostOutput(random.branch(), runTitle(run.number))) {
      await process.stdout(bytes)
      printed.push(bytes)
      await (pauseMs > 0 ? pause(pauseMs, process.signal) : setImmediate())
    }
    run.whole = true
    return 0
  } finally {
    // In its stored form: invalid bytes are U+FFFD.
    const stored = Buffer.from(Buffer.concat(printed).toString())
    run.size = stored.length
    run.sha256 = createHash('sha256').update(stored).digest('hex')
  }
}

const override: Override = (words, process) => {
  const [program, first, id = '', , ...command] = words
  if (program === 'sh' && words[2] === STEPS) return runUpgrade(process)
  if (program !== '/usr/sbin/pct' || first !== 'exec' || !isOwnContainer(id)) return undefined
  if (command[2] !== STEPS) return Promise.resolve(0)
  return runUpgrade({ ...process, place: { ...process.place, id } })
}

const users = Object.fromEntries(
  ACCOUNTS.map(({ username, password }, at): [string, Account] => [
    username,
    { password, uid: 2000 + at, groups: at === 0 ? [username, 'sudo'] : [username], sudo: 'none' },
  ]),
)
const host = await startDemoHost({ users })
host.override = override

answer(HostQuestion, ({ what }) => {
  if (what === 'cut') return host.cut()
  if (what === 'refuse' || what === 'accept') {
    host.accepting = what === 'accept'
    if (what === 'refuse') host.cut()
    return null
  }
  if (what === 'runs') return runs
  if (what === 'connections') return host.connections
  return { port: host.port, hostKey: host.hostKey, ...host.service }
})
