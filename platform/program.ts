import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'

/** One running service among those that share a database. */
export interface Instance {
  /** `<machine>/<pid>/<start time>/<random>`; only the random part is set where the others are unknown. */
  id: string
  /** Whether the process with this id has certainly ended: it was on this machine and no longer runs. */
  isGone(id: string): Promise<boolean>
  /** Whether the process with this id certainly runs, on this machine. */
  runs(id: string): Promise<boolean>
}

/** Identifies this process. A reused pid or a reboot cannot make another process look like it. */
export async function thisInstance(): Promise<Instance> {
  const machine = await machineId()
  const started = await startTime(process.pid)
  const place = machine && started && started !== NONE ? `${machine}/${process.pid}/${started}` : '//'
  /** Returns the start time in the id, and the start time of the process that has its pid now. */
  const look = async (id: string) => {
    const [where, pid, since] = id.split('/')
    if (!machine || where !== machine || !pid || !since) return undefined
    const found = await startTime(Number(pid))
    return found === undefined ? undefined : { since, found }
  }
  return {
    id: `${place}/${randomBytes(6).toString('hex')}`,
    async isGone(id) {
      const seen = await look(id)
      return seen !== undefined && seen.found !== seen.since
    },
    async runs(id) {
      const seen = await look(id)
      return seen !== undefined && seen.found === seen.since
    },
  }
}

/** The boot id with the pid namespace, because each container of a machine numbers its processes separately. */
async function machineId(): Promise<string | undefined> {
  const place = await ownPlace()
  return place && `${place.boot}.${place.namespace}`
}

/** Where this process runs: the boot id of its machine, and the number of its pid namespace. */
export interface OwnPlace {
  boot: string
  namespace: string
  /** The unit of the system manager that it belongs to, such as `ops-panel.service`; undefined without one. */
  unit: string | undefined
}

/** Returns where this process runs; undefined where the system does not tell. */
export async function ownPlace(): Promise<OwnPlace | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const namespace = (await readlink('/proc/self/ns/pid')).replace(/\D/g, '')
    const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
    return { boot, namespace, unit: /.*\/([\w@.:\\-]{1,200}\.service)(\/|$)/m.exec(groups)?.[1] }
  } catch {
    return undefined
  }
}

/** The start time of a process that does not exist or is a zombie. */
const NONE = 'none'

/**
 * In ticks since the boot, field 22 of proc(5)'s stat; undefined when it cannot be read (too many open files, for
 * example).
 */
async function startTime(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? NONE : fields[19]
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' || code === 'ESRCH' ? NONE : undefined
  }
}

/**
 * Whether this process is the executable, Node with the service inside. A Node without `getBuiltinModule` (20.11) is
 * not.
 */
export function isExecutable(): boolean {
  return process.getBuiltinModule?.('node:sea')?.isSea() ?? false
}

/** Returns the words that start this program again; arguments follow them. */
export function ownProgram(): string[] {
  // The executable contains its options for Node, and would treat them as arguments here.
  if (isExecutable()) return [process.execPath]
  const [, script = ''] = process.argv
  return [process.execPath, ...process.execArgv, script]
}

/** The version of this program: set by the build, or read from package.json when the sources run. */
export const VERSION: string = process.env.OPS_PANEL_VERSION ?? fromPackage()

function fromPackage(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? '0.0.0'
}
