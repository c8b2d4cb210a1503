import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readReport } from '../../../functions/checks/check-report.ts'
import { CHECK, INSPECTION } from '../../../functions/checks/check-script.ts'
import {
  isManaged,
  MANAGERS,
  managerText,
  THEN_RUN,
  withManagers,
} from '../../../functions/managers/managed-scripts.ts'
import { FIND_MANAGER, MANAGER_NAMES } from '../../../functions/managers/manager.ts'
import { missingManager, TELL_OTHERS } from '../../../functions/managers/no-manager.ts'
import { MANAGED_PLAN, MANAGED_PLANNED } from '../../../functions/plans/plan-command.ts'
import { PLAN, PLANNED } from '../../../functions/plans/plan-script.ts'
import { readPlanReport } from '../../../functions/plans/plan-report.ts'
import { STEPS } from '../../../functions/updates/apt.ts'
import { UNFINISHED } from '../../../functions/updates/unfinished.ts'
import { programs, shell as runScript } from '../programs.ts'
import { SHELLS } from './apk-box.ts'

const MANAGED = MANAGER_NAMES.filter(isManaged)

/** A manager that says what its test has given, in place of dnf. */
const told = (name: string, lines: readonly string[]) =>
  `dnf_${name}() { printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} | tr '|' '\\t'; }\n`
const CHANGE = 'change|upgrade|app|noarch|1-1|2-1|rig|1|100|-5|app'
const HOLDS = [
  told('refresh', ['repository|rig|http://user:secret@mirror/rig', 'lists|1', 'code|0']),
  told('changes', [CHANGE, 'code|0']),
  told('left', ['code|0']),
  told('verify', ['code|0']),
  'dnf_security() { echo told; }\ndnf_cache() { echo /var/cache; }\n',
  // As a manager does at the latest moment.
  'dnf_run() { dnf_changes "$@" | plan_lines | agrees || return 65; echo "done: $*"; }\n',
  'dnf_upgrade() { echo upgraded; }\n',
].join('')

const asDnf = (text: string) => text.replaceAll(FIND_MANAGER.trim(), 'manager=dnf')

function run(shell: string, text: string, ...args: string[]): { code: number; text: string } {
  const found = asDnf(text)
  const words = shell === 'busybox' ? ['busybox', 'sh'] : [shell]
  const [program = 'sh', ...before] = words
  const options: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  try {
    return { code: 0, text: execFileSync(program, [...before, '-c', found, 'ops-panel', ...args], options) }
  } catch (error) {
    const { status, stdout } = Object(error)
    if (typeof status !== 'number') throw error
    return { code: Number(status), text: String(stdout) }
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const HASH = sha256('upgrade app:noarch 1-1 2-1\n')
const EVERY = ['all', 'keep', 'every']

test.each(SHELLS)('an inspection in %s asks the manager of the target, and shows no password', async (shell) => {
  const { code, text } = run(shell, `${MANAGERS}${HOLDS}${THEN_RUN}`, asDnf(INSPECTION), '')
  const report = await readReport(text.split('\n'), 'container')

  expect(code).toBe(0)
  expect(text).not.toContain('secret')
  expect(report?.summary).toMatchObject({ manager: 'dnf', supported: true, counts: { upgrade: 1, security: 1 } })
  expect(report?.refreshed).toBe(true)
})

test.each(SHELLS)('a plan and its run in %s have the same hash, and another one changes nothing', async (shell) => {
  const functions = `${managerText('dnf')}${HOLDS}`
  const plan = run(shell, `${functions}${MANAGED_PLAN}`, ...EVERY)
  const report = await readPlanReport(plan.text)
  const good = run(shell, `${functions}${MANAGED_PLANNED}`, '', HASH, '-', ...EVERY)
  const bad = run(shell, `${functions}${MANAGED_PLANNED}`, '', sha256('other\n'), '-', ...EVERY)

  expect(report).toMatchObject({ manager: 'dnf', actions: [{ name: 'app', from: '1-1', to: '2-1' }], findings: [] })
  expect(good).toEqual({ code: 0, text: expect.stringContaining('done: all keep every') })
  expect(good.text).toContain('ops-panel-plan: dnf does exactly what was planned.')
  expect(bad.code).toBe(65)
  expect(bad.text).toContain('ops-panel-plan differs\n upgrade app:noarch 1-1 2-1\nops-panel-plan end')
  expect(bad.text).not.toContain('done')
})

test.each(SHELLS)('a tab or a bar of a name cannot make another field in %s', async (shell) => {
  const evil =
    "dnf_changes() { printf 'change\\tupgrade\\tapp|x\\tnoarch\\t1\\t2\\trig\\t1\\t1\\t1\\tapp\\ncode\\t0\\n'; }\n"
  const { text } = run(shell, `${managerText('dnf')}${HOLDS}${evil}${MANAGED_PLAN}`, ...EVERY)

  expect(text).toContain('|app/x|')
  expect(await readPlanReport(text)).toBeUndefined()
})

test.each([
  ['lines that are whole', ['code|0'], 0, ['upgraded']],
  [
    'a repository that fails: the others are upgraded',
    ['failed|1|bad|no answer', 'lists|1', 'code|1'],
    75,
    [
      'bad: no answer (code 1)',
      'Not every repository could be refreshed: bad',
      'upgraded',
      'Upgraded, with warnings: these repositories could not be refreshed: bad',
    ],
  ],
  [
    'a database that stays locked: nothing is upgraded',
    ['locked', 'code|1'],
    1,
    ['The database is locked by another process.', 'The package lists could not be refreshed.'],
  ],
])('an upgrade without a plan, of %s', (_title, refresh, code, lines) => {
  const found = run('sh', `${MANAGERS}${HOLDS}${told('refresh', refresh)}${STEPS}`, '')

  expect(found).toEqual({ code, text: lines.map((line) => `${line}\n`).join('') })
})

test.each(SHELLS)('the rest of an interrupted run is told after the name of the manager, in %s', (shell) => {
  const verify = told('verify', ['unfinished|app|two versions', 'code|0'])

  expect(run(shell, `${MANAGERS}${HOLDS}${verify}${UNFINISHED}`).text).toBe(
    'manager dnf\nunfinished|app|two versions\ncode|0\n',
  )
})

test('a sudo rule that does not allow the manager is told with the missing line, and nothing begins', () => {
  const denied = 'deny() { return 1; }\n'
  const upgrade = run('sh', `${MANAGERS}${HOLDS}${denied}${STEPS}`, 'deny')
  const planned = run('sh', `${managerText('dnf')}${HOLDS}${denied}${MANAGED_PLANNED}`, 'deny', HASH, '-', ...EVERY)

  // An upgrade without a plan ends with 75 only where it has upgraded.
  expect([upgrade.code, planned.code]).toEqual([1, 75])
  for (const each of [upgrade, planned]) {
    expect(each.text).toMatch(/^the sudo rule lacks a program: \S+ ALL=\(root\) NOPASSWD: /)
    expect(each.text).not.toMatch(/done|upgraded/)
  }
})

test.each([
  [75, 1],
  [8, 8],
])(
  'an upgrade that ends with %i without having upgraded fails with %i: it is no upgrade with warnings',
  (code, ends) => {
    const fails = `dnf_upgrade() { echo 'Error: another process still uses dnf or rpm.'; return ${code}; }\n`
    const found = run('sh', `${MANAGERS}${HOLDS}${fails}${STEPS}`, '')

    expect(found).toEqual({ code: ends, text: 'Error: another process still uses dnf or rpm.\n' })
  },
)

const FOUND: [string, string, Record<string, 'tool' | 'own'>][] = [
  [
    'a system of apt with other managers as tools',
    'apt-get',
    { 'apt-get': 'own', apk: 'tool', dnf: 'tool', pacman: 'tool' },
  ],
  ['Alpine with other managers as tools', 'apk', { 'apt-get': 'tool', apk: 'own', dnf: 'tool', pacman: 'tool' }],
  [
    'Fedora with other managers as tools',
    'dnf',
    { 'apt-get': 'tool', apk: 'tool', zypper: 'tool', dnf: 'own', pacman: 'tool' },
  ],
  ['SUSE with other managers as tools', 'zypper', { apk: 'tool', zypper: 'own', dnf: 'tool', pacman: 'tool' }],
  [
    'Arch with other managers as tools',
    'pacman',
    { 'apt-get': 'tool', apk: 'tool', zypper: 'tool', dnf: 'tool', pacman: 'own' },
  ],
  ['a system with an apk that has no packages', 'none', { apk: 'tool' }],
  ['a small Fedora, whose dnf5 is not called dnf', 'dnf', { dnf5: 'own', microdnf: 'own' }],
  ['a system with dnf 4 by another name', 'dnf', { 'dnf-3': 'own', yum: 'own' }],
  ['a minimal image with microdnf alone', 'none', { microdnf: 'own' }],
  ['CentOS 7, with yum 3', 'none', { yum: 'own' }],
]

test.each(SHELLS.flatMap((shell) => FOUND.map((each) => [shell, ...each] as const)))(
  'in %s, the manager of %s is %s: one without packages of its own is a tool',
  (shell, _title, expected, programs) => {
    const root = mkdtempSync(join(tmpdir(), 'managers-'))
    const put = (path: string, text = '') => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text, { mode: 0o755 })
    }
    const own = {
      'apt-get': 'var/lib/dpkg/status',
      apk: 'lib/apk/db/installed',
      zypper: 'etc/zypp/repos.d/oss.repo',
      dnf: 'etc/yum.repos.d/fedora.repo',
      dnf5: 'etc/yum.repos.d/fedora.repo',
      'dnf-3': 'etc/yum.repos.d/fedora.repo',
      microdnf: 'etc/yum.repos.d/fedora.repo',
      yum: 'etc/yum.repos.d/fedora.repo',
      pacman: 'var/lib/pacman/local/bash-5-1/desc',
    }
    put('var/lib/dpkg/status')
    put('var/lib/pacman/local/ALPM_DB_VERSION', '9')
    for (const [program, path] of Object.entries(own)) {
      if (programs[program] !== undefined) put(`bin/${program}`, '#!/bin/sh\n')
      if (programs[program] === 'own') put(path, 'x')
    }
    const text = FIND_MANAGER.replace(/ (\/(?:var|lib|usr|etc)\/)/g, ` ${root}$1`)
    const [sh = '', ...words] = shell === 'busybox' ? ['/usr/bin/env', 'busybox', 'sh'] : [`/bin/${shell}`]
    const env = { PATH: `${root}/bin:${shell === 'busybox' ? process.env.PATH : '/nowhere'}` }
    for (const tool of ['ls', 'grep', 'busybox']) {
      const place = execFileSync('sh', ['-c', `command -v ${tool} || :`], { encoding: 'utf8' }).trim()
      if (place !== '') symlinkSync(place, join(root, 'bin', tool))
    }
    const found = execFileSync(sh, [...words, '-c', `PATH=${root}/bin\n${text}echo "$manager"`], {
      encoding: 'utf8',
      env,
    })
    rmSync(root, { recursive: true })

    expect(found).toBe(`${expected}\n`)
  },
)

test.each(SHELLS)(
  'in %s, a system without a known manager tells its name and its programs with no other program',
  (shell) => {
    const root = mkdtempSync(join(tmpdir(), 'others-'))
    for (const name of ['yum', 'microdnf']) writeFileSync(join(root, name), '#!/bin/sh\n', { mode: 0o755 })
    const [sh = '', ...words] = shell === 'busybox' ? ['/usr/bin/env', 'busybox', 'sh'] : [`/bin/${shell}`]
    const tell = (release: string) => {
      const text = TELL_OTHERS.replace('/etc/os-release', join(root, release))
      const own = `manager=none\nPATH=${root}\necho "manager $manager"\n${text}`
      return execFileSync(sh, [...words, '-c', own], { encoding: 'utf8' })
    }
    writeFileSync(join(root, 'rocky'), `NAME="Rocky"\nPRETTY_NAME="Rocky Linux 9.4 (Blue = Onyx)"\nID=rocky`)
    writeFileSync(join(root, 'odd'), `PRETTY_NAME='$(touch ${root}/ran) %s ${'x'.repeat(5_000)}'\n`)
    const [known, odd, none] = [tell('rocky'), tell('odd'), tell('missing')]
    const ran = existsSync(join(root, 'ran'))
    rmSync(root, { recursive: true })

    expect(known).toBe('manager none\nsystem "Rocky Linux 9.4 (Blue = Onyx)"\nothers microdnf yum\n')
    expect(missingManager(known)?.message).toMatch(/^Rocky Linux 9\.4 \(Blue = Onyx\) n’a que microdnf, /)
    expect(odd.length).toBeLessThan(400)
    expect(ran).toBe(false)
    expect(none).toBe('manager none\nothers microdnf yum\n')
    expect(missingManager(known.replace('manager none', 'manager dnf'))).toBeUndefined()
  },
)

test('a plan of one manager runs nothing where the target has another one', () => {
  const other = `${managerText('zypper')}${MANAGED_PLANNED}`
  const found = run('sh', other, '', HASH, '-', ...EVERY)
  const ofApt = run('sh', PLANNED, '', HASH, '-', ...EVERY)

  for (const { code, text } of [found, ofApt])
    expect([code, text]).toEqual([75, expect.stringMatching(/ (is|than) dnf\.$/m)])
  expect(run('sh', `${managerText('zypper')}${MANAGED_PLAN}`, ...EVERY).text).toBe('manager dnf\n')
})

test('the functions of all managers fit into one argument, and those of one into a command over SSH', () => {
  const most = 128 * 1024 - 1
  // An inspection is an argument of its own.
  for (const text of [THEN_RUN, STEPS, PLAN, PLANNED, UNFINISHED])
    expect(Buffer.byteLength(`${MANAGERS}${text}`)).toBeLessThan(most)
  expect(Buffer.byteLength(INSPECTION)).toBeLessThan(most)
  // 40,000 characters of names come with them.
  for (const name of MANAGED) expect(Buffer.byteLength(managerText(name))).toBeLessThan(64 * 1024)
})

test('an inspection gets to its target with the functions of all managers', async () => {
  const { env } = await programs({ 'apt-get': 'exit 9', timeout: 'shift 3; exec "$@"' })
  const given = { ...env, look: asDnf(INSPECTION), managers: `${MANAGERS}${HOLDS}` }

  const { lines, status } = await runScript(given, CHECK, 'MARK', '', 'host', '', '1')

  expect(status).toBe(0)
  expect(lines).toContain('MARK host 0')
  expect(lines).toContain('  change|upgrade|app|noarch|1-1|2-1|rig|1|100|-5|app')
})

test('a job gives the functions to its script by its environment, and the script gets its own words', () => {
  const { command, program } = withManagers({ command: ['sh', '-c', 'printf "%s|" "$0" "$@" "$managers"', 'a', 'b c'] })
  const text = execFileSync('sh', ['-c', program ?? '', ...command], { encoding: 'utf8' })

  expect(command.slice(0, 3)).toEqual(['sh', 'sh', '-c'])
  expect(text).toBe(`a|b c|${MANAGERS}|`)
})
