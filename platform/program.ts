import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'

/** One running service among those that share a database. */
export interface Instance {
  /** `<machine>/<pid>/<start time>/<random>`; the machine is empty where it cannot be told. */
  id: string
  /** Whether it is certain that the process of this id is gone: it was one of this machine and runs no more. */
  isGone(id: string): Promise<boolean>
  /** Whether it is certain that the process of this id runs, on this machine. */
  runs(id: string): Promise<boolean>
}

/** Who this process is, in terms that survive a pid that is used again and a reboot. */
export async function thisInstance(): Promise<Instance> {
  const machine = await machineId()
  const started = await startTime(process.pid)
  const place = machine && started && started !== NONE ? `${machine}/${process.pid}/${started}` : '//'
  /** Since when the process of that id has run, and since when the one that has its number does. */
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

/** The boot and the pid namespace: two containers of one machine number their processes apart. */
async function machineId(): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const namespace = (await readlink('/proc/self/ns/pid')).replace(/\D/g, '')
    return `${boot}.${namespace}`
  } catch {
    return undefined
  }
}

/** What stands for a process that is not there, or is a zombie. */
const NONE = 'none'

/** In ticks since the boot, field 22 of proc(5)'s stat; undefined when that cannot be told (too many open files, say). */
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

/** Whether this is the executable, Node with the service inside. Without `getBuiltinModule` (Node 20.11) it is none. */
export function isExecutable(): boolean {
  return process.getBuiltinModule?.('node:sea')?.isSea() ?? false
}

/** The words that start this program once more; what is typed follows them. */
export function ownProgram(): string[] {
  // It has its options for Node inside, and would take them for something that was typed.
  if (isExecutable()) return [process.execPath]
  const [, script = ''] = process.argv
  return [process.execPath, ...process.execArgv, script]
}

/** The version of this program: put in by the build, read from package.json when the sources run. */
export const VERSION: string = process.env.OPS_PANEL_VERSION ?? fromPackage()

function fromPackage(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? '0.0.0'
}
