import type { Place, Snapshot, State } from '../place.ts'
import { settingsOf, thinVolumes } from './storage.ts'

/** Returns what is on the disks of a container now. */
export function stateOf(place: Place): State {
  const { upgradable, unfinished, broken, held, newer, disk, cached, services, damage, upgraders, applications } = place
  return { upgradable, unfinished, broken, held, newer, disk, cached, services, damage, upgraders, applications }
}

/** Takes a snapshot of a container as it is now. */
export function take(place: Place, name: string, more: { at?: number; description?: string } = {}): void {
  const { at = Math.floor(Date.now() / 1000), description } = more
  const { lock: _lock, ...settings } = settingsOf(place)
  const snapshot: Snapshot = {
    name,
    at,
    ...(description !== undefined && { description }),
    settings: { ...settings, snaptime: `${at}` },
    state: stateOf(place),
  }
  place.snapshots = [...(place.snapshots ?? []), snapshot]
}

/** Brings a container back to one of its snapshots. */
export function restore(place: Place, { state }: Snapshot): void {
  Object.assign(place, state)
}

/** Removes a snapshot of a container. */
export function forget(place: Place, name: string): void {
  place.snapshots = (place.snapshots ?? []).filter((each) => each.name !== name)
}

/** Returns a container with a snapshot that somebody took so many days ago. */
export function withSnapshot(place: Place, name: string, days: number, description: string): Place {
  take(place, name, { at: Math.floor(Date.now() / 1000) - days * DAY_SECONDS, description })
  return place
}

const DAY_SECONDS = 86_400

/** Returns the lines of LVM about the snapshot's volumes, such as `created`. */
export function volumeLines(place: Place, name: string, what: string): string {
  return thinVolumes(place)
    .map((volume) => `  Logical volume "snap_${volume}_${name}" ${what}.\n`)
    .join('')
}

/** Returns the lines of `pct listsnapshot`: each snapshot below the one before it, then the present state. */
export function listing({ snapshots = [] }: Place): string {
  const rows = [
    ...snapshots.map(({ name, at, description = 'no-description' }) => [name, localTime(at), description]),
    ['current', '', 'You are here!'],
  ]
  return rows
    .map(([name = '', time = '', description = ''], depth) => {
      const branch = `${' '.repeat(depth)}\`->`
      return `${branch} ${name.padEnd(Math.max(0, 30 - branch.length))} ${time.padEnd(23)} ${description}\n`
    })
    .join('')
}

/** Writes a time as `2026-11-25 03:11:07`, in the time zone of this machine. */
export function localTime(seconds: number): string {
  const at = new Date(seconds * 1000)
  const two = (value: number) => `${value}`.padStart(2, '0')
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())]
  return `${day.join('-')} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`
}
