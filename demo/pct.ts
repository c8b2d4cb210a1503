import { ROOT } from './account.ts'
import { startAfresh } from './services.ts'
import type { Place } from './place.ts'
import { type Exit, fail, type Process, pause } from './process.ts'
import { config, ON_SNAPSHOTS, refusedName, SNAPSHOT_USAGES } from './protection/pct-snapshots.ts'

/** Runs a command line, given as words; the caller passes it in because it knows all programs. */
export type Run = (words: readonly string[], process: Process) => Exit

const USAGES = {
  ...SNAPSHOT_USAGES,
  config: 'pct config <vmid> [OPTIONS]',
  exec: 'pct exec <vmid> [<extra-args>] [OPTIONS]',
  list: 'pct list',
  reboot: 'pct reboot <vmid> [OPTIONS]',
  shutdown: 'pct shutdown <vmid> [OPTIONS]',
  start: 'pct start <vmid> [OPTIONS]',
  status: 'pct status <vmid> [OPTIONS]',
  stop: 'pct stop <vmid> [OPTIONS]',
}
type OnContainer = Exclude<keyof typeof USAGES, 'list'>
const ON_CONTAINER: readonly OnContainer[] = [
  ...(['delsnapshot', 'listsnapshot', 'restore', 'rollback', 'snapshot', 'unlock'] as const),
  ...(['config', 'exec', 'reboot', 'shutdown', 'start', 'status', 'stop'] as const),
]
/** Those that take the name of a snapshot, or of an archive. */
const NAMING: readonly OnContainer[] = ['delsnapshot', 'restore', 'rollback', 'snapshot']

/** The time a container takes to start or stop, in lines of an upgrade's output: two seconds. */
const TAKES_LINES = 10

/** The container tool with the messages of pve-container 6: `list`, `exec <id> -- <command>`, and actions on an id. */
export function createPct(run: Run) {
  return async ([name, ...args]: readonly string[], process: Process): Promise<number> => {
    if (process.user.uid !== 0) return fail(process, notRoot(), 255)
    if (name === 'list') return args.length === 0 ? list(process) : misused(process, '400 too many arguments', 'list')
    const known = ON_CONTAINER.find((each) => each === name)
    if (known) return onContainer(known, args, process, run)
    const why = name === undefined ? 'no command specified' : `unknown command 'pct ${name}'`
    const usages = Object.values(USAGES)
      .sort()
      .map((usage) => `       ${usage}\n`)
    return fail(process, `ERROR: ${why}\nUSAGE: pct <COMMAND> [ARGS] [OPTIONS]\n${usages.join('')}`, 255)
  }
}

/** The error of the cluster's file system for every account except root. */
function notRoot(): string {
  const tries = [0, 1, 2].map((at) => `ipcc_send_rec[${at + 1}] failed: Unknown error -1\n`)
  return `${tries.join('')}Unable to load access control list: Unknown error -1\n`
}

function misused(process: Process, why: string, name: keyof typeof USAGES): Promise<number> {
  return fail(process, `${why}\n${USAGES[name]}\n`, 255)
}

async function list({ stdout, machine }: Process): Promise<number> {
  const rows = machine.containers.map(({ id, name, running, lockedFor = '' }) => {
    return [id, running ? 'running' : 'stopped', lockedFor, name]
  })
  const lines = [['VMID', 'Status', 'Lock', 'Name'], ...rows].map(([id = '', status = '', lock = '', name = '']) => {
    return `${id.padEnd(10)} ${status.padEnd(10)} ${lock.padEnd(12)} ${name.padEnd(20)}\n`
  })
  if (rows.length > 0) await stdout(lines.join(''))
  return 0
}

/** Starts or stops a container. */
async function turn(name: OnContainer, place: Place, process: Process): Promise<number> {
  const { id, running, lockedFor, template } = place
  if (lockedFor !== undefined) return fail(process, `CT is locked (${lockedFor})\n`, 255)
  if (template) return fail(process, "you can't start a CT if it's a template\n", 255)
  if (name === 'start' && running) return fail(process, `CT ${id} already running\n`, 255)
  if (name !== 'start' && !running) return fail(process, `CT ${id} not running\n`, 255)
  await pause(process.machine.lineMs * TAKES_LINES, process.signal)
  place.running = name === 'start' || name === 'reboot'
  if (place.running) startAfresh(place)
  return 0
}

async function onContainer(name: OnContainer, args: readonly string[], process: Process, run: Run): Promise<number> {
  const [id, ...rest] = args
  if (id === undefined) return misused(process, '400 not enough arguments', name)
  if (!/^-?\d+$/.test(id)) {
    return misused(
      process,
      `400 Parameter verification failed.\nvmid: type check ('integer') failed - got '${id}'`,
      name,
    )
  }
  if (!/^[1-9]\d{2,8}$/.test(id)) {
    const invalid = 'invalid format - value does not look like a valid VM ID\n'
    return misused(process, `400 Parameter verification failed.\nvmid: ${invalid}`, name)
  }
  const place = process.machine.containers.find((container) => container.id === id)
  if (!place) {
    const file = `nodes/${process.machine.name}/lxc/${id}.conf`
    return fail(process, `Configuration file '${file}' does not exist\n`, 255)
  }
  if (name === 'status') {
    await process.stdout(`status: ${place.running ? 'running' : 'stopped'}\n`)
    return 0
  }
  if (name === 'config') return config(place, rest, process)
  const onSnapshots = ON_SNAPSHOTS.get(name)
  if (onSnapshots) {
    const [snapshot] = rest
    if (NAMING.includes(name)) {
      if (snapshot === undefined) return misused(process, '400 not enough arguments', name)
      const refused = name === 'restore' ? undefined : refusedName(snapshot)
      if (refused !== undefined)
        return misused(process, `400 Parameter verification failed.\nsnapname: ${refused}`, name)
    }
    return onSnapshots(place, rest, process)
  }
  if (name !== 'exec') return turn(name, place, process)
  const command = rest[0] === '--' ? rest.slice(1) : rest
  const [program] = command
  if (rest[0] !== '--' && program?.startsWith('-')) {
    return misused(process, `Unknown option: ${program.replace(/^-+/, '')}\n400 unable to parse option`, name)
  }
  if (!place.running) return fail(process, `container '${id}' not running!\n`, 255)
  if (program === undefined) return fail(process, 'missing command at /usr/share/perl5/PVE/CLI/pct.pm line 236.\n', 255)
  await pause(process.machine.delayMs, process.signal)
  const code = await run(command, { ...process, place, user: ROOT })
  const missing = `lxc-attach: ${id}: ../src/lxc/attach.c: lxc_attach_run_command: 1841 No such file or directory`
  return code ?? fail(process, `${missing} - Failed to exec "${program}"\n`, 127)
}
