import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** Each file and folder below one, with its mode, its time and what is in it. */
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

test('what Dockerfile’s first stage is given is enough, and makes the same files in another folder', async () => {
  const folder = await mkdtemp(join(ROOT, 'dist/layout-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const given = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).match(/(?<=^!).+/gm) ?? []
  for (const path of given.filter((path) => !path.startsWith('dist/')))
    await cp(join(ROOT, path), join(folder, path), { recursive: true })
  // Linked files: behind a linked folder esbuild sees other places.
  await run('cp', ['-al', join(ROOT, 'node_modules'), folder])

  await run('npm', ['run', 'build:layout'], { cwd: folder })

  const made = await tree(join(folder, 'dist/image'))
  expect(Object.keys(made)).toContain('root/usr/bin/ops-panel')
  // run.sh has made these.
  expect(made).toEqual(await tree(join(ROOT, 'dist/image')))
})
