import { dpkgLines, fetchLines, fixLines, isTooSmall, isUpgraded, updateLines } from './apt-output.ts'
import type { Place } from './place.ts'
import { outdateBy } from './services.ts'
import { chosen, planOf } from './plan.ts'
import { fail, type Machine, type Process, pause } from './process.ts'
import { breakBy } from './protection/vitals.ts'
import { faultsOf, publish, suiteOf } from './repositories.ts'

const UNSTABLE = '\nWARNING: apt does not have a stable CLI interface. Use with caution in scripts.\n\n'

/** `apt list --upgradable`, in the language of the environment. */
export async function apt(args: readonly string[], process: Process): Promise<number> {
  const [operation, option] = args
  if (operation !== 'list') return fail(process, `E: Invalid operation ${operation ?? ''}\n`, 100)
  await process.stderr(UNSTABLE)
  const french = (process.env.LC_ALL ?? process.env.LANG ?? 'C').startsWith('fr')
  const [title, since] = french
    ? ['En train de lister…', 'pouvant être mis à jour depuis : ']
    : ['Listing...', 'upgradable from: ']
  const lines = option === '--upgradable' ? listed(process.place, since) : []
  await process.stdout(`${[title, ...lines].join('\n')}\n`)
  return 0
}

/** The lines of `apt list --upgradable`, which also lists the packages that apt leaves alone. */
export function listed(place: Place, since = 'upgradable from: '): string[] {
  publish(place)
  return place.upgradable.map(
    ({ name, suite, version, arch, old }) => `${name}/${suiteOf(place, suite)} ${version} ${arch} [${since}${old}]`,
  )
}

/** `apt-get update`, `full-upgrade`, `-f install` and `clean`, with any options, as root. */
export async function aptGet(args: readonly string[], process: Process): Promise<number> {
  if (args[0] === '--version') {
    await process.stdout('apt 2.6.1 (amd64)\n')
    return 0
  }
  const operation = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-o')
  const { place } = process
  if (operation === 'update') {
    if (process.user.uid !== 0) return lockDenied(process, '/var/lib/apt/lists/lock', 'directory /var/lib/apt/lists/')
    if (place.readOnly) return fail(process, LISTS_READ_ONLY, 100)
    publish(place, true)
    const isStrict = args.includes('APT::Update::Error-Mode=any')
    await print(updateLines(place, isStrict), process)
    return faultsOf(place).some(({ isPassing }) => isStrict || !isPassing) ? 100 : 0
  }
  const work = OPERATIONS.get(operation ?? '')
  if (work) {
    const frontend = '/var/lib/dpkg/lock-frontend'
    if (process.user.uid !== 0)
      return lockDenied(process, frontend, `the dpkg frontend lock (${frontend}), are you root?`)
    if (place.readOnly) return fail(process, DPKG_READ_ONLY, 100)
    return withLock(process, () => work(process))
  }
  return fail(process, `E: Invalid operation ${operation ?? ''}\n`, 100)
}

const LISTS_READ_ONLY =
  'E: List directory /var/lib/apt/lists/partial is missing. - Acquire (30: Read-only file system)\n'
const DPKG_READ_ONLY = 'E: Could not open lock file /var/lib/dpkg/lock-frontend - open (30: Read-only file system)\n'

const HOOK_FAILED = 'E: Sub-process sh returned an error code (65)\nE: Failure running hook sh\n'

async function upgrade(process: Process): Promise<number> {
  const { place, transaction } = process
  const plan = transaction ? chosen(place, transaction.choice) : planOf(place, 'full')
  const isRefused = place.broken !== undefined || isTooSmall(place, plan)
  await print(fetchLines(place, plan), process)
  if (!isUpgraded(place, plan)) return isRefused ? 100 : 0
  if (transaction && !(await transaction.agrees(plan))) return fail(process, HOOK_FAILED, 100)
  await print(dpkgLines(place, plan), process)
  breakBy(place)
  outdateBy(place, plan)
  return 0
}

async function fix(process: Process): Promise<number> {
  await print(fixLines(process.place), process)
  return 0
}

async function clean({ place }: Process): Promise<number> {
  if (place.disk) place.disk = { ...place.disk, free: place.disk.free + (place.cached ?? 0) }
  place.cached = 0
  return 0
}

const OPERATIONS: ReadonlyMap<string, (process: Process) => Promise<number>> = new Map([
  ['full-upgrade', upgrade],
  ['dist-upgrade', upgrade],
  ['install', fix],
  ['clean', clean],
])

/** Prints the output configured for upgrades instead of apt's, until it is complete or the program must end. */
export async function printInstead(output: NonNullable<Machine['upgradeOutput']>, process: Process): Promise<number> {
  const { signal } = process
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  ended.catch(() => {})
  const pieces = output(process.place.id)[Symbol.asyncIterator]()
  for (;;) {
    signal.throwIfAborted()
    const next = await Promise.race([pieces.next(), ended])
    if (next.done) return 0
    await process.stdout(next.value)
  }
}

async function print(lines: Iterable<string>, process: Process): Promise<void> {
  for (const line of lines) {
    await process.stdout(line)
    await pause(process.machine.lineMs, process.signal)
  }
}

function lockDenied(process: Process, file: string, what: string): Promise<number> {
  const text = `E: Could not open lock file ${file} - open (13: Permission denied)\nE: Unable to `
  return fail(process, `${text}${what.startsWith('directory') ? 'lock' : 'acquire'} ${what}\n`, 100)
}

/** Allows one upgrade at a time in each place; the second waits, as with DPkg::Lock::Timeout. */
async function withLock({ place, stdout, signal }: Process, work: () => Promise<number>): Promise<number> {
  if (place.lock) {
    const held = 'Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (apt-get)'
    await stdout(`Waiting for cache lock: ${held}...\n`)
  }
  while (place.lock) {
    await place.lock
    signal.throwIfAborted()
  }
  const working = work()
  const ended = () => {
    place.lock = undefined
  }
  place.lock = working.then(ended, ended)
  return working
}
