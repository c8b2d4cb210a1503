export type FileStatus = 'added' | 'removed' | 'modified'

export interface ChangedFile {
  filename: string
  status: FileStatus
}

/** The result of a first and a second change of the same file; null when nothing is left of both. */
const THEN: Record<FileStatus, Record<FileStatus, FileStatus | null>> = {
  added: { added: 'added', modified: 'added', removed: null },
  modified: { added: 'modified', modified: 'modified', removed: 'removed' },
  removed: { added: 'modified', modified: 'modified', removed: 'removed' },
}
const BACK: Record<FileStatus, FileStatus> = { added: 'removed', removed: 'added', modified: 'modified' }

/** Returns what a row of changes, the oldest first, leaves of each file. Sorted by name. */
export function netFiles(changes: Iterable<ChangedFile>): ChangedFile[] {
  const net = new Map<string, FileStatus>()
  for (const { filename, status } of changes) {
    const before = net.get(filename)
    const after = before === undefined ? status : THEN[before][status]
    if (after === null) net.delete(filename)
    else net.set(filename, after)
  }
  return [...net].sort(([one], [other]) => (one < other ? -1 : 1)).map(([filename, status]) => ({ filename, status }))
}

/** Returns the changes that undo these. */
export function undone(changes: readonly ChangedFile[]): ChangedFile[] {
  return changes.map(({ filename, status }) => ({ filename, status: BACK[status] }))
}
