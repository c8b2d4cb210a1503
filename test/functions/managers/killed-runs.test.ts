import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readlink, symlink, utimes, writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { pacmanWith, SHELLS } from './pacman-stand-in.ts'

type Box = Awaited<ReturnType<typeof pacmanWith>>

/** A folder of a run as it leaves it behind, with a link to what is installed; untouched for some minutes. */
async function leave({ at }: Box, name: string, { mode = 0o700, minutes = 10 } = {}): Promise<string> {
  const folder = at('run', name)
  await mkdir(`${folder}/db`, { recursive: true })
  await symlink(at('data/local'), `${folder}/db/local`)
  await writeFile(`${folder}/before`, 'rig-pac 1.0-1')
  await chmod(folder, mode)
  const time = new Date(Date.now() - minutes * 60_000)
  await utimes(folder, time, time)
  return folder
}

/** Starts a process of a shell, and waits until it works. */
async function process(text: string, ...words: string[]): Promise<void> {
  const child = spawn('sh', ['-c', `${text}\necho ready\nread end`, 'sh', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
}

test.each(SHELLS)('the next look in %s removes the folders of killed runs, and those alone', async (shell) => {
  const box = await pacmanWith(shell)
  const killed = await leave(box, 'ops-panel.Killed01')
  const open = await leave(box, 'ops-panel.Opened01')
  const at = await leave(box, 'ops-panel.Worked01')
  const named = await leave(box, 'ops-panel.Worded01')
  const recent = await leave(box, 'ops-panel.Recent01', { minutes: 0 })
  const others = [
    await leave(box, 'ops-panel.Shared01', { mode: 0o755 }),
    await leave(box, 'ops-panel.short'),
    await leave(box, 'ops-panel.a b*cdef'),
    await leave(box, 'elsewhere.Killed01'),
  ]
  await mkdir(box.at('precious'))
  await writeFile(box.at('precious', 'file'), '')
  await symlink(box.at('precious'), box.at('run', 'ops-panel.Linked01'))
  await process('exec 5<"$1"', open)
  await process('cd "$1"', at)
  await process(':', `--hookdir=${named}/hook`)

  const { lines } = await box.ask('pacman_verify')

  expect(lines).toEqual(['code\t0'])
  expect(existsSync(killed)).toBe(false)
  for (const kept of [open, at, named, recent, ...others]) expect([kept, existsSync(kept)]).toEqual([kept, true])
  expect(await readlink(box.at('run', 'ops-panel.Linked01'))).toBe(box.at('precious'))
  expect(box.has('precious/file')).toBe(true)
  // The link of a removed folder leads to what is installed.
  expect(await readdir(box.at('data/local'))).toEqual(['rig-old-1.0-1', 'rig-pac-1.0-1'])
})

test('a room that everybody may write to is left alone, and so are the folders where processes cannot be seen', async () => {
  const box = await pacmanWith()
  const killed = await leave(box, 'ops-panel.Killed01')

  await chmod(box.at('run'), 0o1777)
  await box.ask('pacman_verify')
  expect(existsSync(killed)).toBe(true)

  await chmod(box.at('run'), 0o755)
  for (const broken of ['echo /proc/1/fd; exit 0', 'exit 124', 'exit 1']) {
    await box.ask(`ls() { (${broken}); }; limited() { shift; "$@"; }; pacman_verify`)
    expect(existsSync(killed)).toBe(true)
  }
  await box.ask('pacman_verify')
  expect(existsSync(killed)).toBe(false)
})

test('a run leaves nothing behind, nor does one that is killed after the next look', async () => {
  const box = await pacmanWith()

  await box.ask('pacman_refresh; pacman_changes all keep every; pacman_left')

  expect(await readdir(box.at('run'))).toEqual([])
})
