import { expect, test } from 'vitest'
import { readReport } from '../../../functions/checks/check-report.ts'

/** The output of an inspection of a healthy target, with some sections replaced or added. */
function inspected(sections: Record<string, string> = {}, words = ''): string[] {
  const all: Record<string, string> = {
    mounts: '/ rw',
    update: 'code 0',
    lists: '2',
    repositories: 'http://m/debian/dists/stable/',
    unfinished: '',
    check: 'code 0',
    held: '',
    planned: 'code 0',
    upgradable: 'Listing...\ncode 0',
    disk: '/ 9000000 4096 9999999 f1\narchives 9000000 4096 9999999 f1\ncached 0',
    ...sections,
  }
  const lines = Object.entries(all).map(([name, text]) => `${name}\n${text.replace(/^/gm, ' ')}\n`)
  return `os\n ID=debian\n VERSION_ID="12"\n VERSION_CODENAME=bookworm\n\nmanager apt-get\n${words}${lines.join('')}end\n`.split(
    '\n',
  )
}

async function report(sections: Record<string, string> = {}, place: 'host' | 'container' = 'host') {
  const found = await readReport(inspected(sections), place)
  if (!found) throw new Error('the report was refused')
  return { ...found, codes: found.summary.findings.map(({ code }) => code) }
}

const inst = (name: string, from: string | undefined, to: string) =>
  `Inst ${name} ${from === undefined ? '' : `[${from}] `}(${to} Debian:12/stable [all])`
const listed = (...names: string[]) =>
  ['Listing...', ...names.map((name) => `${name}/stable 2 all [upgradable from: 1]`), 'code 0'].join('\n')

test('each package that an upgrade leaves alone has the reason: removal, phasing, a hold, dependencies', async () => {
  const planned = [inst('app', '1', '2'), inst('lib', undefined, '1'), inst('wants', '1', '2')]
  const full = ['Remv old [1]', ...planned, inst('web', '1', '2'), inst('fresh', undefined, '2')]
  const { packages, summary } = await report({
    held: 'kept',
    planned: [...planned, 'code 0'].join('\n'),
    minimal: `${inst('app', '1', '2')}\ncode 0`,
    full: [...full, 'code 0'].join('\n'),
    phased: [...full, inst('slow', '1', '2'), 'code 0'].join('\n'),
    upgradable: listed('app', 'wants', 'web', 'slow', 'kept', 'unmet'),
  })

  expect(packages.map(({ name, action, status, reason }) => [name, action, status, reason])).toEqual([
    ['app', 'upgrade', 'planned', null],
    ['lib', 'install', 'planned', null],
    ['wants', 'upgrade', 'planned', 'kept_back_install'],
    ['old', 'remove', 'kept_back', 'kept_back_remove'],
    ['web', 'upgrade', 'kept_back', 'kept_back_remove'],
    ['fresh', 'install', 'kept_back', 'kept_back_remove'],
    ['slow', 'upgrade', 'phased', 'phased'],
    ['kept', 'upgrade', 'held', 'held'],
    ['unmet', 'upgrade', 'kept_back', 'kept_back_dependencies'],
  ])
  expect(summary.counts).toEqual({ upgrade: 2, security: 0, install: 1, remove: 0, held: 1, phased: 1, kept_back: 2 })
  expect(summary.findings.map(({ code, severity, packages: named }) => [code, severity, named])).toEqual([
    ['kept_back_remove', 'info', ['web']],
    ['kept_back_install', 'info', ['wants']],
    ['kept_back_dependencies', 'info', ['unmet']],
    ['held', 'info', ['kept']],
    ['phased', 'info', ['slow']],
  ])
  expect(summary.findings[0]?.message).toContain('old')
})

test('a full upgrade that removes nothing leaves nothing back for a removal', async () => {
  const { packages } = await report({
    planned: `${inst('app', '1', '2')}\ncode 0`,
    full: `${inst('app', '1', '2')}\n${inst('web', '1', '2')}\ncode 0`,
    upgradable: listed('app', 'web'),
  })

  expect(packages).toMatchObject([
    { name: 'app', status: 'planned' },
    { name: 'web', status: 'planned', reason: null },
  ])
})

test('a simulation that apt did not complete makes the whole report worthless', async () => {
  for (const name of ['minimal', 'full', 'phased'])
    expect(await readReport(inspected({ [name]: 'code 137' }), 'host')).toBeUndefined()
})

test('sizes and source packages come from the lists, and the source versions from the names in brackets', async () => {
  const { packages, changes, summary } = await report({
    planned: `${inst('app', '1+b1', '2+b1')}\ncode 0`,
    upgradable: listed('app'),
    offered: 'app all 2+b1 4096 appsrc (2)',
    installed: 'app all appsrc 1',
    sizes: 'download 4096\nAfter this operation, 1,234 kB of additional disk space will be used.',
  })

  expect(packages).toMatchObject([{ name: 'app', size: 4096, source: 'appsrc' }])
  expect([...changes.values()]).toEqual([{ source: 'appsrc', from: '1', to: '2' }])
  expect(summary).toMatchObject({ download_bytes: 4096, disk_bytes: 1_234_000 })
})

test.each([
  ['12.3 MB disk space will be freed.', -12_300_000],
  ['8192 B disk space will be freed.', -8192],
  ['922 GB of additional disk space will be used.', 922_000_000_000],
  ['0 B of additional disk space will be used.', 0],
])('apt’s “After this operation, %s” is %i bytes', async (text, bytes) => {
  const { summary } = await report({ sizes: `After this operation, ${text}` })

  expect(summary.disk_bytes === 0 ? 0 : summary.disk_bytes).toBe(bytes)
})

const MIB = 1024 * 1024
const disk = (root: number, archives: number, cached: number) =>
  `/ ${root} ${MIB} 99999 f1\n/boot ${root} ${MIB} 99999 f1\narchives ${archives} ${MIB} 99999 f2\ncached ${cached * MIB}`
const need = (download: number, used: number) =>
  `download ${download * MIB}\nAfter this operation, ${used} MB of additional disk space will be used.`

test.each([
  ['enough room', disk(500, 500, 0), need(10, 10), []],
  [
    'too little for the downloads, which cleaning the cache mends',
    disk(500, 5, 9),
    need(10, 0),
    [['blocking', 'clean_cache']],
  ],
  ['too little even with an empty cache', disk(500, 5, 4), need(10, 0), [['blocking', 'open_terminal']]],
  ['too little for the packages', disk(50, 500, 0), need(0, 90), [['blocking', 'open_terminal']]],
  ['almost nothing left afterwards', disk(150, 500, 0), need(0, 90), [['warning', 'open_terminal']]],
])('with %s the disk is told as such', async (_, space, sizes, expected) => {
  const { summary } = await report({ disk: space, sizes })

  expect(summary.findings.map(({ code, severity, remedy }) => [code, severity, remedy?.action])).toEqual(
    expected.map((each) => ['disk_low', ...each]),
  )
})

test('without any repository that answers the network is missing; a local or an answering one denies that', async () => {
  const update = 'E: Failed to fetch http://m/debian/dists/stable/InRelease  Could not connect\ncode 100'
  const repositories = 'http://m/debian/dists/stable/'

  expect((await report({ update, repositories })).codes).toEqual(
    ['network_missing', 'repository_unreachable', 'lists_stale'].slice(0, 2),
  )
  for (const other of ['file:/srv/x/./', 'http://other/debian/dists/stable/'])
    expect((await report({ update, repositories: `${repositories}\n${other}` })).codes).toEqual([
      'repository_unreachable',
    ])
})

test('a read-only root blocks, and apt’s complaints about it are no further findings', async () => {
  const { summary, codes } = await report({
    mounts: '/ rw\n/ ro',
    update: 'E: Could not open lock file /var/lib/apt/lists/lock\ncode 100',
    check: 'E: Unmet dependencies. Try --fix-broken\ncode 100',
  })

  expect(codes).toEqual(['root_read_only', 'lists_stale'])
  expect(summary.findings[0]).toMatchObject({ severity: 'blocking', remedy: { action: 'open_terminal' } })
})

test('a repair that removes only the broken packages says so; one that removes others is left to people', async () => {
  const check = ' app : Depends: gone but it is not installable\ncode 100'
  const fixed = async (fix: string) =>
    (await report({ check, fix, planned: 'code 100', upgradable: 'code 0' })).summary.findings

  expect(await fixed('Remv app [1]\ncode 0')).toMatchObject([
    {
      code: 'dependencies_broken',
      packages: ['app'],
      message: expect.stringContaining('app'),
      remedy: { action: 'repair_dpkg' },
    },
  ])
  expect(await fixed('Remv app [1]\nRemv other [1]\ncode 0')).toMatchObject([{ remedy: { action: 'open_terminal' } }])
  expect(await fixed('code 0')).toMatchObject([{ remedy: { action: 'repair_dpkg' } }])
})

test('sources that apt cannot read block, with apt’s own words', async () => {
  const { summary } = await report({
    update:
      'E: Malformed entry 3 in list file /etc/apt/sources.list (Suite)\nE: The list of sources could not be read.\ncode 100',
    lists: '0',
    check: 'E: Malformed entry 3 in list file /etc/apt/sources.list (Suite)\ncode 100',
    planned: 'code 100',
    upgradable: 'code 0',
  })

  expect(summary.findings).toMatchObject([
    { code: 'lists_stale', severity: 'blocking', message: expect.stringContaining('Malformed entry 3') },
  ])
})

test('changed configuration files are named with their packages', async () => {
  const { summary } = await report({ conffiles: 'nginx /etc/nginx/nginx.conf\nnginx /etc/nginx/mime.types' })

  expect(summary.findings).toMatchObject([
    {
      code: 'conffile_changed',
      severity: 'warning',
      packages: ['nginx'],
      message: expect.stringContaining('/etc/nginx/nginx.conf, /etc/nginx/mime.types'),
      remedy: { action: 'review_conffile' },
    },
  ])
})

test('a newer kernel of the running flavour asks for a restart of the host, never of a container', async () => {
  const kernels = '6.8.12-9-pve\n6.8.12-9-pve\n6.8.12-10-pve\n6.17.0-1-amd64'

  expect((await report({ kernels })).summary.reboot).toEqual({
    required: true,
    reasons: ['noyau 6.8.12-10-pve installé, 6.8.12-9-pve en service'],
  })
  expect((await report({ kernels: '6.8.12-10-pve\n6.8.12-9-pve\n6.8.12-10-pve' })).summary.reboot.required).toBe(false)
  expect((await report({ kernels, reboot: 'dbus' }, 'container')).summary.reboot).toEqual({
    required: null,
    reasons: [],
  })
})

test('services that use replaced files are listed with the file', async () => {
  const lines = ['service nginx 812 libssl3 /usr/lib/libssl.so.3', 'process cron-job 90 - /usr/lib/a b.so']
  const { summary, codes } = await report({ services: [...lines, 'whole'].join('\n') })

  expect(codes).toEqual(['services_outdated'])
  expect(summary.services).toEqual([
    { name: 'nginx', reason: '/usr/lib/libssl.so.3', package: 'libssl3', restart: 'service', why: null },
    { name: 'cron-job', reason: '/usr/lib/a b.so', package: null, restart: 'reboot', why: null },
  ])
  expect(summary.services_unseen).toBe(false)
})

test('services may be missing where the look does not say that it was whole', async () => {
  const cut = await report({ services: 'service nginx 812 libssl3 /usr/lib/libssl.so.3' })
  const none = await report({})

  expect([cut, none].map(({ summary }) => summary.services_unseen)).toEqual([true, true])
})

test('a downgrade that a preference asks for blocks, because apt then refuses every upgrade', async () => {
  const { packages, summary } = await report({
    planned: `${inst('app', '1', '2')}\n${inst('pinned', '2', '1')}\ncode 0`,
    upgradable: listed('app'),
  })

  expect(packages).toMatchObject([
    { name: 'app', action: 'upgrade', status: 'planned' },
    { name: 'pinned', action: 'downgrade', status: 'kept_back', reason: 'kept_back_dependencies' },
  ])
  expect(summary.counts).toMatchObject({ upgrade: 1, kept_back: 0 })
  expect(summary.findings).toMatchObject([
    { code: 'kept_back_dependencies', severity: 'blocking', packages: ['pinned'], remedy: { action: 'open_terminal' } },
  ])
})

test.each([
  'W: https://x/dists/s/InRelease: Policy will reject signature within a year, see --audit for details',
  'W: Conflicting distribution: https://x stable InRelease (expected stable but got bookworm)',
  `W: Skipping acquire of configured file 'contrib/x' as repository 'https://x stable InRelease' doesn't have the component 'contrib'`,
  'W: https://x/dists/s/InRelease: Key is stored in legacy trusted.gpg keyring',
])('“%s” says nothing about the age of the lists', async (line) => {
  const { codes, refreshed } = await report({ update: `${line}\ncode 0` })

  expect({ codes, refreshed }).toEqual({ codes: [], refreshed: true })
})

test('apt’s own words about a lock are no silent repository', async () => {
  const { codes, refreshed } = await report({
    update:
      'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\nE: Unable to lock directory /var/lib/apt/lists/\ncode 100',
  })

  expect({ codes, refreshed }).toEqual({ codes: ['manager_locked'], refreshed: false })
})

test('a preference file that the service account may not read is named', async () => {
  const { summary } = await report({ unread: 'W: Unable to read /etc/apt/preferences.d/pin' })

  expect(summary.findings).toMatchObject([{ code: 'lists_stale', repository: '/etc/apt/preferences.d/pin' }])
})

test('other tools that upgrade are told with their place, and unattended-upgrades can be turned off', async () => {
  const { summary } = await report({
    upgraders: 'unattended\ncron apt 3 /etc/cron.d/nightly\ncron lxcs 7 /var/spool/cron/crontabs/root',
  })

  expect(summary.findings).toMatchObject([
    { code: 'other_upgrader', severity: 'info', remedy: { action: 'disable_auto_upgrades' } },
    {
      code: 'other_upgrader',
      severity: 'info',
      message:
        'Cron lance des mises à jour sans instantané et à côté des plans : ligne 3 de /etc/cron.d/nightly (apt), ligne 7 de /var/spool/cron/crontabs/root (update-lxcs).',
      remedy: { action: 'open_terminal' },
    },
  ])
})

test('a target cannot put other words into what is told of its cron, nor more than a few lines', async () => {
  const hostile = [
    'cron apt 3 /etc/shadow',
    'cron apt 3 /etc/cron.d/../shadow',
    'cron apt 3 /etc/crontab. Appelez le 0800',
    'cron <b>apt</b> 3 /etc/crontab',
    'cron __proto__ 3 /etc/crontab',
    'cron apt 0 /etc/crontab',
    `cron apt 3 /etc/cron.d/${'x'.repeat(200)}`,
    'unattended; rm -rf /',
  ]
  expect((await report({ upgraders: hostile.join('\n') })).codes).toEqual([])

  const many = Array.from({ length: 20_000 }, (_, n) => `cron apt ${n + 1} /etc/crontab`)
  const { summary } = await report({ upgraders: many.join('\n') })
  expect(summary.findings).toHaveLength(1)
  expect(summary.findings[0]?.message).toMatch(/ligne 5 de \/etc\/crontab \(apt\) et 25 autres\.$/)
})

test('however much a target says, it has few findings with short messages', async () => {
  const many = (line: (n: number) => string) => Array.from({ length: 20_000 }, (_, n) => line(n)).join('\n')
  const { summary } = await report({
    unread: many((n) => `W: Unable to read /a/sources.list${n} - open (13: x)`),
    check: `${many((n) => ` ${'x'.repeat(60)}${n} : Depends: y`)}\ncode 100`,
    fix: [
      ...many((n) => `Remv ${'x'.repeat(60)}${n} [1]`)
        .split('\n')
        .slice(0, 9_000),
      'code 0',
    ].join('\n'),
  })

  expect(summary.findings.length).toBeLessThan(100)
  expect(JSON.stringify(summary).length).toBeLessThan(100_000)
})
