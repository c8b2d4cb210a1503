import { isManagerError, type ManagerStep, managerStep } from './manager-progress.ts'

/** The progress of a package manager on one target. `fraction` is 0 to 1, and undefined until it reports the amount of work. */
export interface Progress {
  step: 'lists' | 'download' | 'unpack' | 'configure' | 'triggers' | 'done'
  /** The number of configured packages, and the total. */
  done: number
  total: number
  fraction: number | undefined
  /** The package that is being processed. */
  package?: string
  /** In a job over all containers: the current container, and the number of containers started so far. */
  container?: string
  begun: number
}

export interface AptReading {
  progress: Progress
  /** Containers that the job skipped. */
  skipped: readonly string[]
  /** The number of lines in which the package manager reported a failure. */
  errors: number
}

// apt 2 (Debian 12), then apt 3 (Debian 13), both with LC_ALL=C.
const COUNTS =
  /^(\d+) upgraded, (\d+) newly installed, (?:\d+ reinstalled, )?(?:\d+ downgraded, )?\d+ to remove and \d+ not upgraded/
const SUMMARY = /^\s*Upgrading: (\d+), Installing: (\d+), (?:Reinstalling: \d+, )?(?:Downgrading: \d+, )?Removing: \d+/
const CONTAINER = /^=== LXC (\d+) ===$/
const SKIPPED = /^SKIP LXC (\d+)$/

/** The share of each step in the whole progress. */
const SHARE = { download: 0.3, unpack: 0.35, configure: 0.33, triggers: 0.02 }

/** The progress of a job over all containers: the current container, its position, and the share of the whole job. */
export function progressOfAll(
  { container, begun, fraction = 0 }: Progress,
  containers: readonly { vmid: number; name: string }[],
): { at: number; of: number; name: string; fraction: number } {
  const of = containers.length
  const n = containers.findIndex(({ vmid }) => `${vmid}` === container)
  const at = Math.min(n < 0 ? begun : n + 1, of)
  const name = containers[n]?.name || (container ?? '')
  return { at, of, name, fraction: at === 0 ? 0 : (at - 1 + fraction) / of }
}

/**
 * Reads the lines of apt and dpkg, or of another package manager, in order and tracks their progress. For a job over all containers, `order` returns the container ids once
 * they are known; then only the next container in that order can start, whatever a container prints.
 */
export function createAptReader(order: () => readonly string[] | undefined = () => undefined): {
  line(line: string): void
  read(): AptReading
} {
  const skipped: string[] = []
  let errors = 0
  let begun = 0
  let container: string | undefined
  let step: Progress['step'] = 'lists'
  let [total, fetched, unpacked, configured] = [0, 0, 0, 0]
  let name: string | undefined
  /** Whether another package manager than apt works there. */
  let isOther = false

  const begin = (id: string) => {
    begun += 1
    container = id
    step = 'lists'
    total = fetched = unpacked = configured = 0
    name = undefined
    isOther = false
  }
  const follow = (found: ManagerStep) => {
    isOther = true
    step = found.step
    total = found.of ?? total
    name = found.name
    if (step === 'download') fetched = found.at ?? fetched + (name === undefined ? 0 : 1)
    else unpacked = configured = found.at ?? configured + 1
  }
  const mayBegin = (id: string): boolean => {
    const all = order()
    return !all || all.indexOf(id) === (container === undefined ? 0 : all.indexOf(container) + 1)
  }
  const part = (count: number) => (total > 0 ? Math.min(count, total) / total : 0)
  const fraction = () => {
    if (step === 'done') return 1
    if (step === 'lists') return undefined
    const downloaded = unpacked + configured > 0 ? 1 : part(fetched)
    return (
      SHARE.download * downloaded +
      SHARE.unpack * part(unpacked) +
      SHARE.configure * part(configured) +
      (step === 'triggers' ? SHARE.triggers : 0)
    )
  }

  return {
    line(line) {
      const entered = CONTAINER.exec(line)?.[1]
      const left = SKIPPED.exec(line)?.[1]
      const other = managerStep(line)
      const [, upgraded, installed] = COUNTS.exec(line) ?? SUMMARY.exec(line) ?? []
      if (entered) {
        if (mayBegin(entered)) begin(entered)
      } else if (left) {
        if (order() && left !== container) return
        skipped.push(left)
        step = 'done'
      } else if (upgraded !== undefined) {
        // Removals are fast and do not count.
        total = Number(upgraded) + Number(installed)
        step = total > 0 ? 'download' : 'done'
      } else if (isError(line) || (isOther && isManagerError(line))) errors += 1
      else if (other !== undefined) follow(other)
      else if (step === 'lists') return
      else if (line.startsWith('Get:')) fetched += 1
      else if (line.startsWith('Unpacking ')) {
        step = 'unpack'
        unpacked += 1
        name = line.split(' ')[1]
      } else if (line.startsWith('Setting up ')) {
        step = 'configure'
        configured += 1
        name = line.split(' ')[2]
      } else if (line.startsWith('Processing triggers')) {
        step = 'triggers'
        name = undefined
      }
    },
    read: () => ({
      progress: {
        step,
        done: Math.min(configured, total),
        total,
        fraction: fraction(),
        begun,
        ...(name && { package: name }),
        ...(container && { container }),
      },
      skipped,
      errors,
    }),
  }
}

/** Whether apt or dpkg reports an error in this line. */
function isError(line: string): boolean {
  return /^(E: |dpkg: error)/.test(line)
}

/** How to highlight a line of a package manager. */
export function lineKind(line: string): 'section' | 'done' | 'warn' | 'err' | undefined {
  if (CONTAINER.test(line)) return 'section'
  if (SKIPPED.test(line) || /^(W|warning|Warning|WARNING): /.test(line)) return 'warn'
  // `Err:` lines are highlighted but do not count as errors: without this mirror, the existing lists may be enough.
  if (isError(line) || isManagerError(line) || /^Err:\d/.test(line)) return 'err'
  return line.startsWith('Setting up ') || managerStep(line)?.step === 'unpack' ? 'done' : undefined
}
