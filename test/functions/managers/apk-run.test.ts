import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { INSTALLED, OFFERED, upgradableBox as box } from './apk-box.ts'

const COMMUNITY = 'https://repo.example/alpine/v3.20/community'

test('a run takes the lists of the plan, also when newer ones are published and the old ones would be fetched again', async () => {
  const { ask, changes, hashOf, offered } = await box()
  const hash = await hashOf('all keep these tool')
  await offered({ ...OFFERED, tool: { version: '2.0-r3', needs: 'musl', source: 'tools' } }, { refreshed: false })

  expect((await ask(`managed_run ${hash} all keep these tool`)).status).toBe(0)

  expect(await changes()).toEqual(['Upgrading tool 2.0-r1 2.0-r2'])
})

test('a transaction with other packages than its simulation agrees with no plan', async () => {
  const { ask, changes, hashOf, write } = await box()
  const hash = await hashOf('all keep every')
  await write('state/other', 'Upgrading musl 1.2.5-r0 1.2.5-r1\nUpgrading tool 2.0-r1 2.0-r2\nPurging app 1.0-r0 -\n')

  const { status, lines } = await ask(`managed_run ${hash} all keep every`)

  expect(status).toBe(65)
  expect(lines).toContain(' unreadable - - -')
  expect(await changes()).toEqual([])
})

test('a question that tells versions too is understood', async () => {
  const { ask, changes, hashOf, write } = await box({ major: '3' })
  const hash = await hashOf('all remove every')
  await write('state/details', '')

  const { status, lines } = await ask(`managed_run ${hash} all remove every`)

  expect([status, lines.includes('  app (1.0-r0 -> 2.0-r0)')]).toEqual([0, true])
  expect(await changes()).toHaveLength(5)
})

test('an apk that may pass over names is not asked to upgrade some packages', async () => {
  const { ask } = await box()
  const old = 'export APK_VERSION=2.12.14; '

  expect((await ask(`${old}apk_changes all remove these tool`)).lines).toEqual(['unsupported'])
  expect((await ask(`${old}apk_changes all remove without tool`)).lines).toEqual(['unsupported'])
  expect((await ask(`${old}apk_changes all keep every`)).lines).toEqual(['code|0'])
  expect((await ask(`${old}apk_changes all remove every`)).lines).toHaveLength(6)
})

test('a run for which nothing is left to do differs from its plan', async () => {
  const { ask, hashOf, installed, changes } = await box()
  const hash = await hashOf('all keep every')
  await installed({ ...INSTALLED, ...OFFERED, pinned: { version: '1-r0' } })

  const { status, lines } = await ask(`managed_run ${hash} all keep every`)

  expect([status, lines.slice(-2)]).toEqual([65, ['ops-panel-plan differs', 'ops-panel-plan end']])
  expect(await changes()).toEqual([])
})

test('a run that another process keeps from its lock has not begun, and a check says that the database is locked', async () => {
  const { ask, changes, hashOf, write } = await box()
  const hash = await hashOf('all keep every')
  await write('state/locked', '')

  const { status, lines } = await ask(`managed_run ${hash} all keep every`)

  expect(status).toBe(75)
  expect(lines).toContain('Waiting for repository lock')
  expect(await changes()).toEqual([])
  expect((await ask('apk_refresh')).lines.slice(-3)).toEqual(['locked', 'lists|1', 'code|99'])
})

test('a run waits for its turn, and then does what was planned', async () => {
  const { start, changes, hashOf, root } = await box()
  const hash = await hashOf('all keep every')
  const other = spawn('flock', [join(root, 'lib/apk/db/lock'), 'sh', '-c', 'echo locked; read -r _'])
  onTestFinished(() => void other.kill())
  await once(other.stdout, 'data')
  const run = start(`managed_run ${hash} all keep every`)
  const ended = once(run, 'close')
  let said = ''
  run.stdout.on('data', (data: string) => {
    said += data
  })
  await vi.waitUntil(() => said.includes('Waiting for repository lock'), { timeout: 20_000 })
  expect(await changes()).toEqual([])

  other.stdin.end('go on\n')

  expect(await ended).toEqual([0, null])
  expect(await changes()).toEqual(['Upgrading musl 1.2.5-r0 1.2.5-r1', 'Upgrading tool 2.0-r1 2.0-r2'])
})

test('a package that cannot be installed ends the run with the code of apk', async () => {
  const { ask, hashOf, write } = await box()
  const hash = await hashOf('all keep every')
  await write('state/fail', 'tool')

  const { status, lines } = await ask(`managed_run ${hash} all keep every`)

  expect([status, lines.at(-1)]).toEqual([1, '1 error; 9 MiB in 17 packages'])
  expect(lines).toContain("ERROR: tool-9: package mentioned in index not found (try 'apk update')")
})

test('packages that are not those of the plan after a run without an error are told', async () => {
  const { ask, hashOf, write } = await box()
  const hash = await hashOf('all keep every')
  await write('state/skip', 'tool')

  const { status, lines } = await ask(`managed_run ${hash} all keep every`)

  expect([status, lines.at(-1)]).toEqual([
    70,
    'ops-panel-plan: apk ended, but other packages are installed than planned.',
  ])
})

test('a process that a script of a package leaves behind does not hold up the end of a run', async () => {
  const { ask, hashOf, read, write } = await box()
  const hash = await hashOf('all keep every')
  await write('state/hold', '')

  // The pipe of the test itself stays open in that process, so the end is a line.
  const { lines } = await ask(
    `managed_run ${hash} all keep every >"$APK_ROOT/out"; echo "ended $?"; kill "$(cat "$APK_ROOT/state/held")"`,
  )

  expect(lines).toEqual(['ended 0'])
  expect(await read('out')).toContain('OK: 9 MiB in 17 packages\n')
})

test('apk 3, which takes the end of its input for a yes, changes nothing when the run is killed at its question', async () => {
  const { start, changes, hashOf, read, root } = await box({ major: '3' })
  const hash = await hashOf('all keep every')
  execFileSync('mkfifo', [join(root, 'state/pause')])
  const run = start(`managed_run ${hash} all keep every`)
  const ended = new Promise((resolve) => run.on('exit', resolve))
  const asking = await vi.waitUntil(
    async () => /^waiting (\d+) (\S+)\/answer\nsimulated/m.exec(await read('state/log')),
    { timeout: 20_000 },
  )
  const [, pid = '', folder = ''] = asking ?? []
  onTestFinished(() => void execFileSync('rm', ['-rf', folder]))

  run.kill('SIGKILL')
  await ended
  const isAlive = existsSync(`/proc/${pid}`)
  process.kill(Number(pid), 'SIGTERM')
  await writeFile(join(root, 'state/pause'), 'go on\n')
  await vi.waitUntil(() => !existsSync(`/proc/${pid}`), { timeout: 20_000 })

  expect(isAlive).toBe(true)
  expect(await read('state/log')).not.toContain('asked')
  expect(await changes()).toEqual([])
})

test('an upgrade without a plan takes everything, and a repository that fails does not keep back the others', async () => {
  const { ask, changes, write } = await box()
  await write(
    'state/update',
    `1\nWARNING: updating and opening ${COMMUNITY}: temporary error (try again later)\n1 unavailable, 0 stale; 5 distinct packages available\n`,
  )

  const { status, lines } = await ask('managed_upgrade')

  expect(status).toBe(75)
  expect(lines).toContain(`Not every repository could be refreshed: ${COMMUNITY}`)
  expect(await changes()).toHaveLength(5)
})
