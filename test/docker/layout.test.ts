import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** Returns the mode, the time and the hash of each file and folder below a folder. */
async function tree(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name)
    const { mode, mtimeMs } = await lstat(path)
    const content = (mode & 0o170000) === 0o100000 ? await readFile(path) : ''
    found[name] = `${mode.toString(8)} ${mtimeMs} ${createHash('sha256').update(content).digest('hex')}`
  }
  return found
}

test('the first stage of Dockerfile builds the same files in another folder', async () => {
  const folder = await mkdtemp(join(ROOT, 'dist/layout-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const given = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).match(/(?<=^!).+/gm) ?? []
  for (const path of given.filter((path) => !path.startsWith('dist/')))
    await cp(join(ROOT, path), join(folder, path), { recursive: true })
  // Links of the files, because esbuild would resolve a linked folder to another path.
  await run('cp', ['-al', join(ROOT, 'node_modules'), folder])

  await run('npm', ['run', 'build:layout'], { cwd: folder })

  const made = await tree(join(folder, 'dist/image'))
  expect(Object.keys(made)).toContain('root/usr/bin/ops-panel')
  // run.sh has built this tree.
  expect(made).toEqual(await tree(join(ROOT, 'dist/image')))
})
