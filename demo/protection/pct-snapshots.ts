import { startAfresh } from '../services.ts'
import type { Place } from '../place.ts'
import { fail, type Process, pause } from '../process.ts'
import { restoreBackup } from './backups.ts'
import { forget, listing, restore, take, volumeLines } from './snapshots.ts'
import { canSnapshot, rootVolume, settingLines, settingsOf, thinVolumes } from './storage.ts'

/** The commands of pct about snapshots and backups, by their usage. */
export const SNAPSHOT_USAGES = {
  delsnapshot: 'pct delsnapshot <vmid> <snapname> [OPTIONS]',
  listsnapshot: 'pct listsnapshot <vmid>',
  restore: 'pct restore <vmid> <ostemplate> [OPTIONS]',
  rollback: 'pct rollback <vmid> <snapname> [OPTIONS]',
  snapshot: 'pct snapshot <vmid> <snapname> [OPTIONS]',
  unlock: 'pct unlock <vmid>',
}

/** A command on a container, with the words behind its number. */
type OnSnapshots = (place: Place, words: readonly string[], process: Process) => Promise<number>

/** The time of each action, in lines of an upgrade's output: a second and a half. */
const TAKES_LINES = 8

/** The exit code of pct when it fails. */
const FAILED = 255

/** `pct config <id> [--snapshot <name>]`. */
export const config: OnSnapshots = async (place, words, process) => {
  const name = optionOf(words, 'snapshot')
  const settings = name === undefined ? settingsOf(place) : snapshotOf(place, name)?.settings
  if (!settings) return fail(process, `snapshot '${name}' does not exist\n`, FAILED)
  await process.stdout(settingLines(settings))
  return 0
}

const listsnapshot: OnSnapshots = async (place, _words, { stdout }) => {
  await stdout(listing(place))
  return 0
}

const unlock: OnSnapshots = async (place, _words, process) => {
  if (place.lockedFor === undefined) return fail(process, 'no lock found trying to remove  lock\n', FAILED)
  delete place.lockedFor
  return 0
}

const snapshot: OnSnapshots = async (place, words, process) => {
  const [name = ''] = words
  if (name === 'current' || name === 'vzdump')
    return fail(process, `unable to use snapshot name '${name}' (reserved name)\n`, FAILED)
  if (place.template) return fail(process, "you can't take a snapshot if it's a template\n", FAILED)
  if (place.lockedFor !== undefined) return locked(place, process)
  if (snapshotOf(place, name)) return fail(process, `snapshot name '${name}' already used\n`, FAILED)
  if (!canSnapshot(place)) return fail(process, 'snapshot feature is not available\n', FAILED)
  const fault = place.faults?.snapshot
  const description = optionOf(words, 'description')
  return withLock(place, 'snapshot', process, async () => {
    if (fault !== undefined) {
      await process.stdout('snapshot create failed: starting cleanup\n')
      return fail(process, `${fault}\n`, FAILED)
    }
    await process.stdout(volumeLines(place, name, 'created'))
    take(place, name, { ...(description !== undefined && { description }) })
    return 0
  })
}

const delsnapshot: OnSnapshots = async (place, words, process) => {
  const [name = ''] = words
  if (!snapshotOf(place, name)) return fail(process, `snapshot '${name}' does not exist\n`, FAILED)
  if (place.lockedFor !== undefined) return locked(place, process)
  const fault = place.faults?.delsnapshot
  const code = await withLock(place, 'snapshot-delete', process, async () => {
    if (fault !== undefined) return fail(process, `${fault}\n`, FAILED)
    await process.stdout(volumeLines(place, name, 'successfully removed'))
    forget(place, name)
    return 0
  })
  // Proxmox leaves the lock behind.
  if (code !== 0) place.lockedFor = 'snapshot-delete'
  return code
}

const rollback: OnSnapshots = async (place, words, process) => {
  const [name = ''] = words
  if (place.template) return fail(process, "you can't rollback if vm is a template\n", FAILED)
  const found = snapshotOf(place, name)
  if (!found) return fail(process, `snapshot '${name}' does not exist\n`, FAILED)
  if (place.storage === 'local-zfs' && place.snapshots?.at(-1) !== found) {
    const reason = `can't rollback, '${name}' is not most recent snapshot on '${rootVolume(place)}'\n`
    return fail(process, reason, FAILED)
  }
  if (place.lockedFor !== undefined) return locked(place, process)
  const fault = place.faults?.rollback
  place.running = false
  const code = await withLock(place, 'rollback', process, async () => {
    if (fault !== undefined) return fail(process, `${fault}\n`, FAILED)
    const volumes = thinVolumes(place).map((volume) => [`"${volume}" successfully removed`, `"${volume}" created`])
    for (const line of volumes.flat()) await process.stdout(`  Logical volume ${line}.\n`)
    restore(place, found)
    return 0
  })
  // A rollback that failed leaves the container stopped and locked.
  if (code !== 0) place.lockedFor = 'rollback'
  else if (optionOf(words, 'start') === '1') {
    place.running = true
    startAfresh(place)
  }
  return code
}

/** The commands by their name. */
export const ON_SNAPSHOTS: ReadonlyMap<string, OnSnapshots> = new Map(
  Object.entries({ delsnapshot, listsnapshot, restore: restoreBackup, rollback, snapshot, unlock }),
)

/** Returns why a name is none of a snapshot, as pct says it; undefined for a good one. */
export function refusedName(name: string): string | undefined {
  if (name.length > 40) return 'value may only be 40 characters long'
  return /^[a-z][a-z0-9_-]+$/i.test(name) ? undefined : `invalid format - invalid configuration ID '${name}'\n`
}

function snapshotOf({ snapshots = [] }: Place, name: string) {
  return snapshots.find((each) => each.name === name)
}

/** The value of `--<name> <value>` or `--<name>=<value>`. */
function optionOf(words: readonly string[], name: string): string | undefined {
  const at = words.findIndex((word) => word.replace(/^--?/, '') === name && word.startsWith('-'))
  if (at >= 0) return words[at + 1]
  return words.map((word) => /^--?([a-z]+)=(.*)$/s.exec(word)).find((match) => match?.[1] === name)?.[2]
}

function locked({ lockedFor }: Place, process: Process): Promise<number> {
  return fail(process, `CT is locked (${lockedFor})\n`, FAILED)
}

/** Works while the container is locked; the lock ends with the work, also when the program must end. */
async function withLock(
  place: Place,
  lock: string,
  { machine, signal }: Process,
  work: () => Promise<number>,
): Promise<number> {
  place.lockedFor = lock
  try {
    await pause(machine.lineMs * TAKES_LINES, signal)
    return await work()
  } finally {
    delete place.lockedFor
  }
}
