/** How far apt is in one place. `fraction` is 0 to 1; undefined until apt has said how much there is to do. */
export interface Progress {
  step: 'lists' | 'download' | 'unpack' | 'configure' | 'triggers' | 'done'
  /** Packages that are configured, of so many. */
  done: number
  total: number
  fraction: number | undefined
  /** The package it is at. */
  package?: string
  /** Of a job over all containers: the one it is in, and how many it has begun with. */
  container?: string
  begun: number
}

export interface AptReading {
  progress: Progress
  /** Containers that were left behind. */
  skipped: readonly string[]
  /** Lines in which apt or dpkg told of a failure. */
  errors: number
}

// apt 2 (Debian 12), then apt 3 (Debian 13), both with LC_ALL=C.
const COUNTS =
  /^(\d+) upgraded, (\d+) newly installed, (?:\d+ reinstalled, )?(?:\d+ downgraded, )?\d+ to remove and \d+ not upgraded/
const SUMMARY = /^\s*Upgrading: (\d+), Installing: (\d+), (?:Reinstalling: \d+, )?(?:Downgrading: \d+, )?Removing: \d+/
const CONTAINER = /^=== LXC (\d+) ===$/
const SKIPPED = /^SKIP LXC (\d+)$/

/** What takes how long, of a whole. */
const SHARE = { download: 0.3, unpack: 0.35, configure: 0.33, triggers: 0.02 }

/** How far a job over all containers is: the container that it is in, which of how many that is, and how much of all is done. */
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
 * Reads what apt and dpkg print, whole lines in their order, and says how far they are. Of a job over all containers `order`
 * gives their numbers, once they are known: then only the next of them can begin, whatever a container prints.
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

  const begin = (id: string) => {
    begun += 1
    container = id
    step = 'lists'
    total = fetched = unpacked = configured = 0
    name = undefined
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
      const [, upgraded, installed] = COUNTS.exec(line) ?? SUMMARY.exec(line) ?? []
      if (entered) {
        if (mayBegin(entered)) begin(entered)
      } else if (left) {
        if (order() && left !== container) return
        skipped.push(left)
        step = 'done'
      } else if (upgraded !== undefined) {
        // Removals are quick, and not counted.
        total = Number(upgraded) + Number(installed)
        step = total > 0 ? 'download' : 'done'
      } else if (isError(line)) errors += 1
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

/** Whether apt or dpkg tells in this line of something that it could not do. */
function isError(line: string): boolean {
  return /^(E: |dpkg: error)/.test(line)
}

/** How a line of apt stands out. */
export function lineKind(line: string): 'section' | 'done' | 'warn' | 'err' | undefined {
  if (CONTAINER.test(line)) return 'section'
  if (SKIPPED.test(line) || line.startsWith('W: ')) return 'warn'
  // A mirror that does not answer need not matter: the lists may be there already.
  if (isError(line) || /^Err:\d/.test(line)) return 'err'
  return line.startsWith('Setting up ') ? 'done' : undefined
}
