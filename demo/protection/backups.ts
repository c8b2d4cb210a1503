import type { Place } from '../place.ts'
import { fail, type Process, type Program, pause } from '../process.ts'
import { localTime, stateOf } from './snapshots.ts'
import { canSnapshot } from './storage.ts'

const FAILED = 255
/** A backup takes so long, in lines of an upgrade's output: four seconds. */
const TAKES_LINES = 20
const RESTORES_LINES = 15
/** The storages for backups, by the folder of their archives. */
const FOLDERS: Readonly<Record<string, string>> = { local: '/var/lib/vz/dump', nas: '/mnt/pve/nas/dump' }

/** The file of an archive: a volume such as `nas:backup/vzdump-lxc-…`, or a path. */
function fileOf(archive = ''): string {
  const [, storage = '', name = ''] = /^(\w+):backup\/(.+)$/.exec(archive) ?? []
  return storage === '' ? archive : `${FOLDERS[storage]}/${name}`
}

/** `vzdump <id> [--storage <name>]…`: makes an archive of one container, with the lines of Proxmox VE 9. */
export const vzdump: Program = async (args, process) => {
  const { machine, signal, stdout } = process
  const id = args.find((arg) => /^\d{3,}$/.test(arg)) ?? ''
  const storage = args[args.indexOf('--storage') + 1]
  const folder = FOLDERS[args.includes('--storage') ? (storage ?? '') : 'local']
  if (folder === undefined) {
    const why = `can't use storage '${storage}' for backups - wrong content type`
    return fail(process, `could not get storage information for '${storage}': ${why}\n`, FAILED)
  }
  const info = (text: string) => stdout(`INFO: ${text}\n`)
  await info(`starting new backup job: vzdump ${args.join(' ')}`)
  const place = machine.containers.find((each) => each.id === id)
  const failed = async (why: string) => {
    await stdout(`ERROR: Backup of VM ${id} failed - ${why}\nINFO: Backup job finished with errors\n`)
    return fail(process, 'job errors\n', FAILED)
  }
  if (!place) return failed(`unable to find VM '${id}'`)
  await info(`Starting Backup of VM ${id} (lxc)`)
  await info(`status = ${place.running ? 'running' : 'stopped'}`)
  if (place.lockedFor !== undefined) return failed(`CT is locked (${place.lockedFor})`)
  await info(`CT Name: ${place.name}`)
  await info("including mount point rootfs ('/') in backup")
  await info(`backup mode: ${canSnapshot(place) ? 'snapshot' : 'suspend'}`)
  const file = `${folder}/vzdump-lxc-${id}-${localTime(Date.now() / 1000)
    .replaceAll(/[-:]/g, '_')
    .replace(' ', '-')}.tar.zst`
  await info(`creating vzdump archive '${file}'`)
  place.lockedFor = 'backup'
  try {
    await pause(machine.lineMs * TAKES_LINES, signal)
  } finally {
    delete place.lockedFor
  }
  place.backups = [...(place.backups ?? []), { file, state: stateOf(place) }]
  await info('archive file size: 412MB')
  await info(`Finished Backup of VM ${id} (00:00:04)`)
  await info('Backup job finished successfully')
  return 0
}

/** `pct restore <id> <archive> --storage <name> --force 1`: the container with its snapshots is destroyed first. */
export async function restoreBackup(place: Place, words: readonly string[], process: Process): Promise<number> {
  const { id } = place
  const [file] = words
  const backup = place.backups?.find((each) => each.file === fileOf(file))
  if (!words.includes('--force')) {
    const name = process.machine.name
    return fail(process, `unable to restore CT ${id} - CT ${id} already exists on node '${name}'\n`, FAILED)
  }
  if (place.running) return fail(process, "can't overwrite running container\n", FAILED)
  if (!backup) return fail(process, `volume '${file}' does not exist\n`, FAILED)
  if (place.lockedFor !== undefined) return fail(process, `CT is locked (${place.lockedFor})\n`, FAILED)
  await process.stdout(`recovering backed-up configuration from '${file}'\nrestoring '${file}' now..\n`)
  await process.stdout(`extracting archive '${file}'\n`)
  await pause(process.machine.lineMs * RESTORES_LINES, process.signal)
  place.snapshots = []
  Object.assign(place, backup.state)
  await process.stdout('merging backed-up and given configuration..\n')
  return 0
}

/** `rm -f -- <archive>…`; no other file can be removed. */
export const rm: Program = async (args, { machine }) => {
  remove(args, machine)
  return 0
}

/** `pvesm list <storage> --content backup --vmid <id>` and `pvesm free <archive>`. */
export const pvesm: Program = async ([command, of = '', ...words], process) => {
  const { machine, stdout } = process
  if (command === 'free') {
    remove([fileOf(of)], machine)
    await stdout(`Removed volume '${of}'\n`)
    return 0
  }
  const folder = FOLDERS[of]
  if (command !== 'list' || folder === undefined) return fail(process, `storage '${of}' does not exist\n`, FAILED)
  const id = words[words.indexOf('--vmid') + 1]
  const all = machine.containers.filter((each) => each.id === id).flatMap(({ backups = [] }) => backups)
  await stdout('Volid Format Type Size VMID\n')
  for (const { file } of all) {
    if (file.startsWith(`${folder}/`))
      await stdout(`${of}:backup/${file.slice(folder.length + 1)} tar.zst backup 432013312 ${id}\n`)
  }
  return 0
}

function remove(files: readonly string[], machine: Process['machine']): void {
  for (const place of machine.containers)
    place.backups = (place.backups ?? []).filter(({ file }) => !files.includes(file))
}
