import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The type of vitest's function. A concurrent test passes its own. */
export type OnTestFinished = (work: () => Promise<void>) => void

/** An empty folder of the running test's own, removed when it ends. */
export async function temporaryFolder(onFinished: OnTestFinished = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-test-'))
  onFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
