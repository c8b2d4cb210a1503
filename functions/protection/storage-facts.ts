import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import type { SeenStorage } from '../../db/snapshots.ts'
import { timestamp } from '../../platform/clock.ts'
import { type Finding, findingOf } from '../findings/finding.ts'
import { DEFAULT_PROTECTION, STORAGE_NAME } from './protection.ts'

/**
 * The abilities of the storage of a container before an upgrade; null is not known. `why`: in French, why it cannot, without
 * an end stop.
 */
export const StorageFacts = z.object({
  snapshot: z.boolean().nullable(),
  backup: z.boolean().nullable(),
  why: z.string().nullable(),
})
export type StorageFacts = z.infer<typeof StorageFacts>

/** The facts of a container that no check has told about. */
export const UNKNOWN_STORAGE: StorageFacts = { snapshot: null, backup: null, why: null }

/** The host's storages that take backups. */
const HostStorage = z.object({ storages: z.array(z.string()) })

/** The storages and containers that a check has read from the host's configuration; `storages` is undefined when the account may not read them. */
interface StorageReport {
  storages: string[] | undefined
  containers: SeenStorage[]
}

/** Types of storages whose volumes of containers can be snapshotted, and those that cannot. Others are not known. */
const CAN_SNAPSHOT = new Map<string, boolean>([
  ...['zfspool', 'lvmthin', 'btrfs', 'rbd'].map((type) => [type, true] as const),
  ...['dir', 'nfs', 'cifs', 'lvm', 'glusterfs', 'cephfs', 'iscsi', 'iscsidirect'].map((type) => [type, false] as const),
])

/** The panel gives its snapshots this name, with the id of the job that made them. */
const OWN_SNAPSHOT = /^panel-(\d{9,11}-[a-z0-9]{8})$/

/** Lines read in one turn of the event loop. */
const LINES_PER_TURN = 500
/** Snapshots of one container. One with more is left as it was. */
const MOST_SNAPSHOTS = 500
/** Storages that take backups. */
const MOST_STORAGES = 100
/** Seconds since 1970 of the last time of four-digit years. */
const LAST_SECOND = 253_402_300_799

interface Container {
  snapshot: boolean | null
  why: string | null
  seen: SeenStorage['snapshots']
}

/**
 * Parses what `STORAGE` prints: lines `storages`, `storage <name> <type> backup|-`, `container <id>`, `volume <id>
 * <mount point> bind|device|storage <storage>`, `snapshot <id> <name> <time>` and `end`. Undefined without the last
 * one. `at` is the time of the check.
 */
export async function readStorage(lines: readonly string[], at: string): Promise<StorageReport | undefined> {
  if (lines.findLast((line) => line !== '') !== 'end') return undefined
  const types = new Map<string, string>()
  const backups: string[] = []
  const containers = new Map<string, Container>()
  let isKnown = false
  for (const [place, line] of lines.entries()) {
    if (place % LINES_PER_TURN === 0) await nextTurn()
    const [what, id = '', name = '', kind = '', storage = ''] = line.split(' ')
    if (what === 'storages') isKnown = true
    else if (what === 'storage' && STORAGE_NAME.test(id)) {
      types.set(id, name)
      if (kind === 'backup') backups.push(id)
    } else if (what === 'container' && /^\d{3,9}$/.test(id)) containers.set(id, { snapshot: true, why: null, seen: [] })
    const container = containers.get(id)
    if (!container) continue
    if (what === 'volume') addVolume(container, name, kind, storage, types.get(storage))
    if (what === 'snapshot') {
      const job_id = OWN_SNAPSHOT.exec(name)?.[1] ?? null
      container.seen.push({ name: name.slice(0, 100), made_at: timeOf(kind) ?? at, job_id, ours: job_id !== null })
    }
  }
  const storages = isKnown ? backups.slice(0, MOST_STORAGES) : undefined
  return {
    storages,
    containers: [...containers]
      .filter(([, { seen }]) => seen.length <= MOST_SNAPSHOTS)
      .map(([id, { seen, ...container }]) => ({
        target: `lxc:${id}`,
        facts: JSON.stringify(factsOf(container, storages)),
        snapshots: seen,
      })),
  }
}

/** Any mount point without snapshots keeps the whole container from having one; the first one is named. */
function addVolume(container: Container, name: string, kind: string, storage: string, type: string | undefined): void {
  if (container.snapshot === false || !/^(rootfs|mp\d{1,3})$/.test(name)) return
  const place = name === 'rootfs' ? 'le système de fichiers racine' : `le point de montage ${name}`
  if (kind === 'bind')
    Object.assign(container, { snapshot: false, why: `${place} est un dossier de l’hôte (bind mount)` })
  else if (kind === 'device')
    Object.assign(container, { snapshot: false, why: `${place} est un périphérique de l’hôte` })
  else {
    const can = CAN_SNAPSHOT.get(type ?? '') ?? null
    if (can === null) container.snapshot = null
    if (can === false)
      Object.assign(container, {
        snapshot: false,
        why: `le stockage ${storage} (${type}) ne sait pas faire d’instantané`,
      })
  }
}

function factsOf({ snapshot, why }: Omit<Container, 'seen'>, storages: readonly string[] | undefined): StorageFacts {
  const backup = storages ? storages.length > 0 : null
  const lack = backup === false ? 'aucun stockage de l’hôte n’accepte de sauvegardes' : null
  return { snapshot, backup, why: why ?? lack }
}

function timeOf(text: string): string | undefined {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : 0
  return seconds > 0 && seconds <= LAST_SECOND ? timestamp(new Date(seconds * 1000)) : undefined
}

/** Parses stored facts; those of another version are not known. */
export function factsFrom(stored: string | null | undefined): StorageFacts {
  return (stored ? StorageFacts.safeParse(JSON.parse(stored)).data : undefined) ?? UNKNOWN_STORAGE
}

/** Parses the stored storages of the host that take backups. */
export function storagesFrom(stored: string | undefined): string[] {
  return (stored === undefined ? undefined : HostStorage.safeParse(JSON.parse(stored)).data?.storages) ?? []
}

/**
 * Returns the finding of a container whose policy asks for what its storage cannot do. `before` is that of its stored
 * policy, null without one.
 */
export function protectionFindings({ storage, before }: { storage: string | null; before: string | null }): Finding[] {
  const { snapshot, backup, why } = factsFrom(storage)
  const asked = before ?? DEFAULT_PROTECTION.before
  const reason = why === null ? '' : ` : ${why}`
  const none = `Ce conteneur ne peut pas avoir d’instantané${reason}.`
  if (snapshot === false && asked === 'auto') {
    const message = `${none} Ses mises à jour se font sans, avec la comparaison avant et après.`
    return [findingOf('protection_unavailable', { message })]
  }
  const refused = 'Sa protection l’exige : ses mises à jour par plan seront refusées.'
  if (snapshot === false && asked === 'snapshot')
    return [findingOf('protection_unavailable', { severity: 'warning', message: `${none} ${refused}` })]
  if (backup === false && asked === 'backup') {
    const message = `Aucun stockage de l’hôte n’accepte de sauvegardes. ${refused}`
    return [findingOf('protection_unavailable', { severity: 'warning', message })]
  }
  return []
}
