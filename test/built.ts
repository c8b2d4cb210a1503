import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which the test files of this run share the state of the build. */
    build: string
  }
}

const ROOT = join(import.meta.dirname, '..')

/** Creates the folder of the run; nothing is built before a test asks for it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-built-'))
  provide('build', folder)
  return () => rm(folder, { recursive: true, force: true })
}

/** Builds the files in `dist/` once for all test files of a run, or takes them as they are with BUILT=1; returns that folder. */
export async function built(): Promise<string> {
  if (process.env.BUILT) return join(ROOT, 'dist')
  const at = (name: string) => join(inject('build'), name)
  const isFirst = await mkdir(at('claim')).then(
    () => true,
    () => false,
  )
  if (isFirst) {
    await promisify(execFile)(process.execPath, [join(ROOT, 'build.mjs')]).catch((error: unknown) =>
      writeFile(at('failure'), String(error)),
    )
    await writeFile(at('ended'), '')
  }
  while (!existsSync(at('ended'))) await pause(50)
  if (existsSync(at('failure'))) throw new Error(await readFile(at('failure'), 'utf8'))
  return join(ROOT, 'dist')
}
