import { setTimeout as pause } from 'node:timers/promises'
import type { LeftBy, Leftovers } from '../../jobs/jobs.ts'
import type { Elevation, Host } from '../../ssh/ssh.ts'
import { type Archive, archiveLine, type ArchiveState, readArchive } from './archive.ts'
import { containerLines, type ContainerState, restingState } from './protected-run.ts'

/** The findings about the backup of a job that was interrupted. */
export interface FoundBackup extends ContainerState {
  archive: ArchiveState
}

/** How long the end of a vzdump that was asked to stop is waited for. */
const STOPS_MS = 30_000
const AGAIN_MS = 1_000

/**
 * Looks at what an interrupted job has left of a backup; `archive` is undefined where none was begun. An
 * archive that vzdump still writes, or that this account does not see, is recorded too, so that it is removed in its time.
 */
export async function leftBackup(
  host: Host,
  place: { id: string; name: string; elevation: Elevation },
  archive: Archive | undefined,
  { ending, signal }: Pick<LeftBy, 'ending' | 'signal'>,
): Promise<Leftovers & { found: FoundBackup }> {
  let state = await restingState(host, place, signal)
  for (const until = performance.now() + STOPS_MS; archive && ending === 'cancelled' && isBacked(state); ) {
    if (performance.now() > until) break
    await pause(AGAIN_MS, undefined, { signal })
    state = await restingState(host, place, signal)
  }
  if (!archive) {
    const lines = [...containerLines(state), 'Il n’y a pas de sauvegarde de cette mise à jour.']
    return { lines, found: { ...state, archive: 'none', isArchived: false } }
  }
  const found = await readArchive(host, place, archive)
  const isBusy = isBacked(state)
  const lines = [...containerLines(state), archiveLine(found, archive, isBusy)]
  const isArchived = found === 'whole' || found === 'unknown' || isBusy
  return { lines, found: { ...state, archive: found, isArchived } }
}

/** Whether vzdump works on a container, or was killed while it did. */
function isBacked({ lock }: ContainerState): boolean {
  return lock === 'backup'
}
