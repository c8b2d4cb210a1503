/*
 * The archive of a backup, as the service knows it. vzdump gives an archive its name when it is whole, so a run that was cut
 * off may have left one that it could not note as made.
 */
import * as z from 'zod'
import { snapshotsOf, type SnapshotRow } from '../../db/snapshots.ts'
import type { Database } from '../../db/libsql/database.ts'
import { type Elevation, type Host, script, SshError } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { sudoFor } from '../updates/apt.ts'

/**
 * The contents of an archive, which a restoration needs: the storage of the container's root, null where it could not be
 * read; whether the container is unprivileged; and the mount points in the archive, such as `rootfs` and `mp0`.
 */
export const Archived = z.object({
  root: z.string().nullable(),
  unprivileged: z.boolean(),
  volumes: z.array(z.string()),
})
export type Archived = z.infer<typeof Archived>

/** Where an archive is: its location, and the path of its file where that is known. */
export interface Archive {
  location: string
  file: string | null
}

/** Whether an archive is whole, half of it is left (`half`), or there is nothing. */
export type ArchiveState = 'whole' | 'half' | 'none' | 'unknown'

/** Returns the name of an archive in the records. */
export function archiveName(location: string): string {
  return location.replace(/^.*\/(?=vzdump)/, '')
}

/** Asks the host for the state of an archive of a container. */
export async function readArchive(
  host: Host,
  { id, elevation }: { id: string; elevation: Elevation },
  { location, file }: Archive,
): Promise<ArchiveState> {
  const path = location.startsWith('/') ? location : (file ?? '')
  const command = script(ARCHIVE, 'ops-panel-archive', sudoFor(elevation), id, location, path)
  const { stdout } = await host.exec(command, { rights: 'script' })
  const word = stdout.trim().split('\n').at(-1)
  return word === 'whole' || word === 'half' || word === 'none' ? word : 'unknown'
}

/**
 * `ARCHIVE <sudo> <id> <location> <file>`, on the host: prints `whole`, `half`, `none` or `unknown`. vzdump writes
 * `<name>.tar.dat` before it has `<name>.tar.zst`. A location without a file is looked for in the list of its storage.
 */
export const ARCHIVE = `
sudo=$1 id=$2 location=$3 file=$4
if [ -n "$file" ]; then
  if [ -e "$file" ]; then echo whole
  elif [ -e "\${file%.*}.dat" ]; then echo half
  elif [ -x "\${file%/*}" ]; then echo none
  else echo unknown; fi
elif list=$($sudo /usr/sbin/pvesm list "\${location%%:*}" --content backup --vmid "$id" </dev/null 2>/dev/null); then
  if printf '%s\\n' "$list" | awk -v volume="$location" '$1 == volume { found = 1 } END { exit !found }'; then echo whole; else echo none; fi
else
  echo unknown
fi
`

/** Says in French what has become of an archive, which vzdump may still write (`isBusy`). */
export function archiveLine(state: ArchiveState, { location, file }: Archive, isBusy: boolean): string {
  const name = archiveName(location)
  if (state === 'whole') return `La sauvegarde ${name} est entière.`
  if (isBusy) return `La sauvegarde ${name} n’est pas finie : vzdump y travaille encore, ou a été interrompu.`
  if (state === 'half')
    return `La sauvegarde ${name} a été interrompue. Un reste est sur l’hôte : ${file?.replace(/\.[^.]+$/, '.dat') ?? location}`
  if (state === 'none') return 'La sauvegarde a été interrompue : aucune archive n’est restée.'
  return `Il n’a pas été possible de voir si la sauvegarde ${name} est entière.`
}

/** Most archives that one run removes. */
const MOST_REMOVED = 50

/** Returns the panel's own backups of a container that are beyond `keep` once a job has made one more, the oldest first. */
export async function backupsBeyond(db: Database, target: string, { keep, job }: { keep: number; job: string }) {
  const own = (await snapshotsOf(db, target)).filter((row) => isOwnBackup(row) && row.job_id !== job)
  return own
    .slice(keep - 1)
    .reverse()
    .slice(0, MOST_REMOVED)
    .flatMap(({ location }) => location ?? [])
}

function isOwnBackup({ kind, ours, present, location }: SnapshotRow): boolean {
  return kind === 'backup' && ours && present && location !== null
}

/** The mount points of a container's configuration that a restoration destroys and an archive does not have. */
export function lostVolumes(config: string, archived: Archived | null): { key: string; at: string }[] {
  const kept = new Set(archived?.volumes)
  return config.split('\n').flatMap((line) => {
    const [, key = '', source = '', options = ''] = /^((?:mp|unused)\d{1,3}): (?:volume=)?([^,]+)(.*)$/.exec(line) ?? []
    // A folder or a device of the host is not part of the container.
    if (key === '' || source.startsWith('/') || kept.has(key)) return []
    return [{ key, at: /,mp=([^,]+)/.exec(options)?.[1] ?? source }]
  })
}

/**
 * Asks the host which volumes of a container the restoration of its backup destroys without giving them back: each has the
 * key in the configuration, and the place. A container that does not exist any more has none, because a restoration that
 * failed has destroyed it. Rejects with an SshError when the configuration cannot be read.
 */
export async function lossesOf(host: Host, id: string, archived: Archived | null) {
  const { code, stdout, stderr } = await host.exec([CONTAINER_TOOL, 'config', id], { rights: 'command' })
  if (code === 0) return lostVolumes(stdout, archived)
  if (stderr.includes('does not exist')) return []
  throw new SshError('refused', stderr.trim().split('\n').at(-1) ?? '')
}
