import { updateLines, upgradeLines } from './apt-output.ts'
import { fail, type Machine, type Process, pause } from './process.ts'

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
  const packages = option === '--upgradable' ? process.place.upgradable : []
  const lines = packages.map((one) => `${one.name}/${one.suite} ${one.version} ${one.arch} [${since}${one.old}]`)
  await process.stdout(`${[title, ...lines].join('\n')}\n`)
  return 0
}

/** `apt-get update` and `apt-get full-upgrade`, with any options, as root. */
export async function aptGet(args: readonly string[], process: Process): Promise<number> {
  if (args[0] === '--version') {
    await process.stdout('apt 2.6.1 (amd64)\n')
    return 0
  }
  const operation = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-o')
  if (operation === 'update') {
    if (process.user.uid !== 0) return lockDenied(process, '/var/lib/apt/lists/lock', 'directory /var/lib/apt/lists/')
    await print(updateLines(process.place), process)
    return 0
  }
  if (operation === 'full-upgrade' || operation === 'dist-upgrade') {
    const frontend = '/var/lib/dpkg/lock-frontend'
    if (process.user.uid !== 0)
      return lockDenied(process, frontend, `the dpkg frontend lock (${frontend}), are you root?`)
    return withLock(process, () => print(upgradeLines(process.place), process))
  }
  return fail(process, `E: Invalid operation ${operation ?? ''}\n`, 100)
}

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
async function withLock({ place, stdout, signal }: Process, work: () => Promise<void>): Promise<number> {
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
  await working
  return 0
}
