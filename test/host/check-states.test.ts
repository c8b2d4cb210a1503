import { beforeAll, expect, test } from 'vitest'
import { checkingAs } from './checking.ts'
import { signIn } from './client.ts'
import { inside, rig } from './rig.ts'
import { startService } from './service.ts'

let alice: ReturnType<typeof checkingAs>
beforeAll(async () => {
  await rig('reset')
  const service = await startService()
  alice = checkingAs(await signIn(service, 'alice'))
  return () => service.stop()
})

interface Bad {
  /** The state of the target's check. */
  state: string
  code: string
  severity: string
  /** The remedy of the finding. */
  action: string | null
  /** Makes the state on container 101. */
  make: string[][]
  /** Ends what no remedy of the service can end, before a retry. */
  mend?: string[][]
  packages?: string[]
}

const BAD: Record<string, Bad> = {
  'an unreachable third-party repository': {
    make: [['third', '101', 'unreachable']],
    mend: [['third', '101', 'good']],
    code: 'repository_unreachable',
    severity: 'warning',
    state: 'attention',
    action: 'retry_check',
  },
  'repositories of which none answers': {
    make: [
      ['http', '101', 'on'],
      ['refresh', '101'],
      ['http', '101', 'off'],
    ],
    mend: [['http', '101', 'on']],
    code: 'network_missing',
    severity: 'warning',
    state: 'attention',
    action: 'retry_check',
  },
  'a repository with another suite and code name': {
    make: [
      ['refresh', '101'],
      ['repo-name', '101', 'oldstable', 'other'],
    ],
    code: 'repository_changed',
    severity: 'warning',
    state: 'attention',
    action: 'allow_release_change',
  },
  'lists past their Valid-Until': {
    make: [['third', '101', 'old']],
    mend: [['third', '101', 'good']],
    code: 'repository_expired',
    severity: 'warning',
    state: 'attention',
    action: 'retry_check',
  },
  'an expired key': {
    make: [['third', '101', 'expired']],
    code: 'repository_expired',
    severity: 'warning',
    state: 'attention',
    action: 'open_terminal',
  },
  'a wrong signature': {
    make: [['third', '101', 'bad']],
    code: 'repository_unsigned',
    severity: 'warning',
    state: 'attention',
    action: 'open_terminal',
  },
  'a repository without a signature': {
    make: [
      ['third', '101', 'good'],
      ['refresh', '101'],
      ['third', '101', 'unsigned'],
    ],
    code: 'repository_unsigned',
    severity: 'warning',
    state: 'attention',
    action: 'open_terminal',
  },
  'a held package': {
    make: [['hold', '101', 'on', 'rig-slow']],
    code: 'held',
    severity: 'info',
    state: 'ready',
    action: 'lift_hold',
    packages: ['rig-slow'],
  },
  'a phased update': {
    make: [['phased', '101', 'on']],
    code: 'phased',
    severity: 'info',
    state: 'ready',
    action: null,
    packages: ['rig-phased'],
  },
  'an update that needs a new package': {
    make: [['kept-new', '101']],
    code: 'kept_back_install',
    severity: 'info',
    state: 'ready',
    action: null,
    packages: ['rig-wants'],
  },
  'an update that needs a removal': {
    make: [['kept-remove', '101']],
    code: 'kept_back_remove',
    severity: 'info',
    state: 'ready',
    action: null,
    packages: ['rig-driver', 'rig-web'],
  },
  'an update whose dependencies nobody offers': {
    make: [['kept-deps', '101']],
    code: 'kept_back_dependencies',
    severity: 'info',
    state: 'ready',
    action: null,
    packages: ['rig-unmet'],
  },
  'a half-configured package': {
    make: [['half', '101', 'on']],
    mend: [['in', '101', 'rm', '/etc/rig/half-fails']],
    code: 'dpkg_interrupted',
    severity: 'warning',
    state: 'attention',
    action: 'repair_dpkg',
    packages: ['rig-half'],
  },
  'an interrupted dpkg': {
    make: [['interrupted', '101', 'on']],
    code: 'dpkg_interrupted',
    severity: 'warning',
    state: 'attention',
    action: 'repair_dpkg',
  },
  'an installed package with an unmet dependency': {
    make: [['broken', '101', 'on']],
    code: 'dependencies_broken',
    severity: 'blocking',
    state: 'blocked',
    action: 'repair_dpkg',
    packages: ['rig-broken'],
  },
  'too little room for the downloads behind an old cache': {
    make: [['full-disk', '101', '5120']],
    code: 'disk_low',
    severity: 'blocking',
    state: 'blocked',
    action: 'clean_cache',
  },
  'a disk that is too small for the packages': {
    make: [['huge', '101', 'on']],
    code: 'disk_low',
    severity: 'blocking',
    state: 'blocked',
    action: 'open_terminal',
  },
  'a configuration file that somebody changed': {
    make: [['conffile', 'on', '101']],
    code: 'conffile_changed',
    severity: 'warning',
    state: 'attention',
    action: 'review_conffile',
    packages: ['rig-conf'],
  },
  'a lock that another apt holds': {
    make: [['lock', '15', '101']],
    mend: [['in', '101', 'sh', '-c', 'pkill -f [h]old-lock; true']],
    code: 'manager_locked',
    severity: 'warning',
    state: 'attention',
    action: 'retry_check',
  },
  'a read-only root': {
    make: [['readonly', '101', 'on']],
    code: 'root_read_only',
    severity: 'blocking',
    state: 'blocked',
    action: 'open_terminal',
  },
  'no package manager': {
    make: [['nomanager', '101', 'on']],
    code: 'manager_missing',
    severity: 'info',
    state: 'unsupported',
    action: null,
  },
  'unattended-upgrades': {
    make: [['auto-upgrades', '101', 'on']],
    code: 'other_upgrader',
    severity: 'info',
    state: 'ready',
    action: 'disable_auto_upgrades',
  },
  'a distribution past its end of life': {
    make: [['os', '101', 'debian', '9', 'stretch']],
    code: 'end_of_life',
    severity: 'warning',
    state: 'attention',
    action: null,
  },
  'a container that the hypervisor has locked': {
    make: [['ct-lock', '101', 'backup']],
    mend: [['ct-lock', '101', 'off']],
    code: 'container_locked',
    severity: 'warning',
    state: 'attention',
    action: 'retry_check',
  },
  'a stopped container': {
    make: [['in', 'host', 'pct', 'stop', '101']],
    code: 'container_stopped',
    severity: 'info',
    state: 'stopped',
    action: 'start_container',
  },
  'a template': {
    make: [
      ['in', 'host', 'pct', 'stop', '101'],
      ['template', '101', 'on'],
    ],
    code: 'container_template',
    severity: 'info',
    state: 'stopped',
    action: null,
  },
}

/** Brings container 101 back to its first state, and running. */
async function fresh(): Promise<void> {
  await rig('reset', '101')
  await rig('in', 'host', 'sh', '-c', 'pct status 101 | grep -q running || pct start 101')
}

/** Remedies that a person applies elsewhere. */
const BY_HAND = ['open_terminal', 'review_conffile']

test.each(Object.entries(BAD))('%s: code, severity, state and remedy, and the remedy ends it', async (_, bad) => {
  await fresh()
  for (const words of bad.make) await rig(...words)

  const found = await alice.check('lxc:101')

  const finding = found.findings.find(({ code }) => code === bad.code)
  expect({ state: found.state, finding }).toMatchObject({
    state: bad.state,
    finding: { severity: bad.severity, remedy: bad.action === null ? null : { action: bad.action } },
  })
  expect(finding?.message).toMatch(/\.$| : /)
  if (bad.packages) expect(finding?.packages).toEqual(bad.packages)

  for (const words of bad.mend ?? []) await rig(...words)
  if (bad.action !== null && !BY_HAND.includes(bad.action)) {
    expect(await alice.remedy('lxc:101', bad.action)).toMatchObject({ status: 'success', exit_code: 0 })
    const after = await alice.check('lxc:101')
    expect(after.findings.map(({ code }) => code)).not.toContain(bad.code)
    expect(['ready', 'up_to_date']).toContain(after.state)
  }
})

test('lists that were deleted, and lists of which one repository is missing, are never up to date', async () => {
  await fresh()
  await alice.upgrade('lxc:101')
  expect(await alice.check('lxc:101')).toMatchObject({ state: 'up_to_date', findings: [] })
  const { lists_at } = await alice.target('lxc:101')

  await inside('101', `mv /srv/rig/security /srv/rig/away; rm -rf /var/lib/apt/lists/*`)
  const half = await alice.check('lxc:101')
  expect(half).toMatchObject({ state: 'attention', lists_at, findings: [{ code: 'repository_unreachable' }] })
  await inside('101', `mv /srv/rig/main /srv/rig/gone; rm -rf /var/lib/apt/lists/*`)
  const none = await alice.check('lxc:101')
  expect(none).toMatchObject({ state: 'attention', lists_at })
  expect(none.findings.map(({ code }) => code)).toContain('lists_stale')
})

test('lines of cron are named by place alone; turning unattended-upgrades off writes one file, and its removal undoes that', async () => {
  await fresh()
  await rig('auto-upgrades', '101', 'on', 'cron')
  const others = async () =>
    (await alice.check('lxc:101')).findings
      .filter(({ code }) => code === 'other_upgrader')
      .map(({ message }) => message)
  const byItself = expect.stringContaining('unattended-upgrades')
  const byCron = expect.stringMatching(
    / : ligne 1 de \/var\/spool\/cron\/crontabs\/root \(update-lxcs\), ligne 3 de \/etc\/cron\.d\/rig-upgrades \(apt\)\.$/,
  )
  expect(await others()).toEqual([byItself, byCron])
  const files = () => inside('101', 'find /etc /var/spool/cron -type f -not -name "*-panel-*" | sort | xargs sha256sum')
  const before = await files()

  const { output } = await alice.remedy('lxc:101', 'disable_auto_upgrades')

  expect(output).toMatch(/remove \/etc\/apt\/apt\.conf\.d\/99ops-panel-no-auto-upgrades\n$/)
  expect(await others()).toEqual([byCron])
  expect(await files()).toBe(before)
  expect((await inside('101', 'apt-config dump | grep ^APT::Periodic::')).split('\n')).toEqual([
    'APT::Periodic::Update-Package-Lists "1";',
    'APT::Periodic::Unattended-Upgrade "0";',
  ])

  await inside('101', 'rm /etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades')
  expect(await others()).toEqual([byItself, byCron])
})

test('on the host, the crontab of root is read with its rights', async () => {
  await rig('auto-upgrades', 'host', 'on', 'cron')

  const { findings } = await alice.check('host')

  expect(findings.filter(({ code }) => code === 'other_upgrader').map(({ remedy }) => remedy?.action)).toEqual([
    'disable_auto_upgrades',
    'open_terminal',
  ])
  await rig('auto-upgrades', 'host', 'off')
  expect((await alice.check('host')).findings.map(({ code }) => code)).not.toContain('other_upgrader')
})
