import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import hostOf from '../../../functions/hypervisor/host.get.ts'
import { FIGURES, FIGURES_MARK, HostFigures, parseFigures } from '../../../functions/hypervisor/host-figures.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/hypervisor/host'
const BOOT = '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90'
const LINES = [
  FIGURES_MARK,
  'pve',
  'Debian GNU/Linux 12 (bookworm)',
  '6.8.12-4-pve',
  '81418',
  '0.42 1.37 12.31',
  '8',
  '1000 400',
  '2000 500',
  'yes',
  'no',
  BOOT,
  'asked dbus',
  'asked linux-image-6.8.12-13-pve',
  'kernel 6.8.12-13-pve',
  'kernel 6.8.12-4-pve',
  'kernel 6.12.0-1-amd64',
  'end',
]
const text = (lines: readonly string[] = LINES) => `${lines.join('\n')}\n`
const FIGURES_OF_LINES = {
  hostname: 'pve',
  os: 'Debian GNU/Linux 12 (bookworm)',
  kernel: '6.8.12-4-pve',
  uptime: 81_418,
  load: [0.42, 1.37, 12.31],
  cpus: 8,
  mem: 600 * 1024,
  maxmem: 1000 * 1024,
  disk: 500 * 1024,
  maxdisk: 2000 * 1024,
  reboot_required: true,
  reboot_reasons: ['dbus', 'linux-image-6.8.12-13-pve', 'noyau 6.8.12-13-pve installé, 6.8.12-4-pve en service'],
  boot_id: BOOT,
  dpkg_broken: false,
}

test('one command, without rights, returns all figures', async () => {
  const app = await testApp([hostOf], { fake: { exec: () => ({ stdout: text() }) } })

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual(FIGURES_OF_LINES)

  expect(app.ran).toEqual([{ command: ['sh', '-c', FIGURES, 'ops-panel-figures'], rights: 'none' }])
  expect(await audited(app.db)).toEqual([])
})

test('output of start-up files before or after the figures is ignored', () => {
  const chatty = `Welcome!\n\nend\n${FIGURES_MARK}\nnot really\n${text()}Bye.\n`

  expect(parseFigures(chatty)).toEqual(FIGURES_OF_LINES)
})

const LAST = 'end\n'
const without = (...words: string[]) => text(LINES.filter((line) => !words.includes(line.split(' ')[0] ?? '')))

test.each([
  [
    'no package asks, and no kernel is newer',
    without('yes', 'asked', 'kernel').replace('2000 500', '2000 500\nno'),
    false,
    [],
  ],
  ['a package asks without its name', without('asked', 'kernel'), true, []],
  ['a package asks for one', without('kernel'), true, ['dbus', 'linux-image-6.8.12-13-pve']],
  [
    'only a kernel is newer',
    without('yes', 'asked').replace('2000 500', '2000 500\nno'),
    true,
    ['noyau 6.8.12-13-pve installé, 6.8.12-4-pve en service'],
  ],
  [
    'the list without its marker counts for nothing',
    without('yes', 'kernel').replace('2000 500', '2000 500\nno'),
    false,
    [],
  ],
])('a reboot: %s', (_, stdout, reboot_required, reboot_reasons) => {
  expect(stdout.endsWith(LAST)).toBe(true)
  expect(parseFigures(stdout)).toMatchObject({ reboot_required, reboot_reasons })
})

test('a thousand kernels and packages are cut, and no line of theirs ends the figures', () => {
  const many = Array.from({ length: 1_000 }, (_, n) => `asked end${n}`)

  const { reboot_reasons } = parseFigures(text([...LINES.slice(0, -1), ...many, 'end']))

  expect(reboot_reasons.length).toBeLessThanOrEqual(101)
})

const changed = (at: number, line: string) => text(LINES.map((each, index) => (index === at ? line : each)))

test.each([
  ['nothing', ''],
  ['no mark', text(LINES.slice(1))],
  ['no end', text(LINES.slice(0, -1))],
  ['a line less', text(LINES.filter((_, at) => at !== 4))],
  ['no uptime', changed(4, '')],
  ['a load of two', changed(5, '0.1 0.2')],
  ['no cpus', changed(6, '0')],
  ['cpus that are words', changed(6, 'getconf: not found')],
  ['no figure for memory', changed(7, '1000 ')],
  ['more memory free than there is', changed(7, '1000 1001')],
  ['no disk', changed(8, ' ')],
  ['an invalid flag', changed(9, 'maybe')],
  ['no boot id', changed(11, '')],
  ['a boot id with a path in it', changed(11, '../../../../../../../../../etc/passwd')],
])('a host that reports %s gives 502', async (_, stdout) => {
  const app = await testApp([hostOf], { fake: { exec: () => ({ stdout }) } })

  const { error } = await refused(await app.request('GET', PATH, { as: 'user' }), 502, 'ssh_failed')

  expect(error).toMatch(/^Erreur SSH : l’état de l’hôte est illisible \(.+\)$/)
})

test('a host that cannot be asked gives 502, incomplete settings 503, a missing token 401', async () => {
  const exec = () => {
    throw new SshError('unreachable', 'ECONNREFUSED')
  }
  const app = await testApp([hostOf], { fake: { exec } })
  await refused(await app.request('GET', PATH, { as: 'user' }), 502, 'ssh_failed')
  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  const failing = await testApp([hostOf], { fake: { exec: () => ({ code: 127, stderr: 'sh: not found\n' }) } })
  await refused(await failing.request('GET', PATH, { as: 'user' }), 502, 'ssh_failed')
  const incomplete = await testApp([hostOf], { ssh: { host: '' } })
  await refused(await incomplete.request('GET', PATH, { as: 'user' }), 503, 'ssh_incomplete')
  expect(incomplete.ran).toEqual([])
})

const run = async (env: Record<string, string> = {}) => {
  const { stdout } = await promisify(execFile)('sh', ['-c', FIGURES], { env: { PATH: process.env.PATH ?? '', ...env } })
  return parseFigures(stdout)
}

test('the real script reports the figures of this machine', async () => {
  const figures = await run({ LANG: 'fr_FR.UTF-8', LC_ALL: 'fr_FR.UTF-8' })

  expect(figures).toMatchObject({ hostname: hostname(), kernel: release(), maxmem: totalmem() })
  expect(figures.boot_id).toBe((await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim())
  expect(figures.os).not.toBe('')
  expect(figures.cpus).toBeGreaterThanOrEqual(1)

  expect(figures.mem).toBeLessThan(figures.maxmem)
  expect(figures.disk).toBeLessThanOrEqual(figures.maxdisk)
  expect(figures.maxdisk).toBeGreaterThan(0)
})

test.each([
  ['says something', "echo 'The following packages are only half configured'", true],
  ['says nothing', 'true', false],
  ['is not there', 'exit 127', false],
])('a dpkg that %s on its audit', async (_, body, dpkg_broken) => {
  const folder = join(await temporaryFolder(), 'bin')
  await mkdir(folder)
  const dpkg = join(folder, 'dpkg')
  await writeFile(dpkg, `#!/bin/sh\n${body}\n`)
  await chmod(dpkg, 0o755)

  expect(await run({ PATH: `${folder}:${process.env.PATH}` })).toMatchObject({ dpkg_broken })
})

test('the imitated host reports its own figures', async () => {
  const { request } = await startService(await startDemo())

  const response = await request('GET', PATH)

  expect(response.status).toBe(200)
  expect(HostFigures.parse(await response.json())).toMatchObject({ hostname: 'pve', cpus: 8, reboot_required: false })
})
