import { expect, test } from 'vitest'
import { FindingCode, findingOf } from '../../../functions/findings/finding.ts'
import type { Role, TargetStanding } from '../../../functions/restarts/standing.ts'
import { selfImpactFindings, standingFindings } from '../../../functions/restarts/standing-findings.ts'
import { repositoryFindings } from '../../../functions/findings/repository-findings.ts'
import { managedReport, unsupportedFinding } from '../../../functions/managers/managed-report.ts'
import { downgradeFindings } from '../../../functions/checks/check-report.ts'
import {
  conffileFindings,
  diskFindings,
  excludedFindings,
  leftOutFindings,
  otherUpgraderFindings,
} from '../../../functions/checks/system-findings.ts'
import type { PackageUpdate } from '../../../functions/managers/package-update.ts'
import { en } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'

test('every finding has its few words in both languages, and an English sentence', () => {
  const told = { message: '', packages: [], repository: null }

  for (const code of FindingCode.options) {
    for (const { findings } of [fr, en]) expect(findings.short[code](2, null)).toMatch(/\S/)
    expect(en.findings.sentence({ code, ...told })).toMatch(/^([A-Z]|dpkg|apt).*\.$/)
  }
})

test('the English sentence has what the French one says: apt’s own words, files, and sizes', () => {
  const [away] = repositoryFindings(['W: Failed to fetch http://m/debian/dists/stable/InRelease  Could not connect'])
  const [file] = conffileFindings(['nginx-common /etc/nginx/nginx.conf', 'ssh /etc/ssh/sshd_config'])
  const [disk] = diskFindings(['/ 1000 1024 2000 a'], { download: 0, disk: 2_500_000_000 }, false)
  const english = [away, file, disk].map((finding) => finding && en.findings.sentence(finding))

  expect(english).toEqual([
    'Repository http://m/debian stable did not answer. apt says: Failed to fetch http://m/debian/dists/stable/InRelease Could not connect',
    'You changed /etc/nginx/nginx.conf, /etc/ssh/sshd_config: your version is kept, and the new one is put beside it (.dpkg-dist).',
    'Not enough space on /: the upgrade needs 2.3 GiB, 1 MiB are free.',
  ])
  expect(en.findings.sentence(findingOf('held', { packages: ['curl'] }))).not.toMatch(/curl|figés/)
})

test('the English of another package manager has its name, its exit code and its own words', async () => {
  const sections = new Map([
    ['security', ['database']],
    [
      'refresh',
      [
        'repository|rig|http://m/rig',
        'repository|own|file:/srv/own',
        'failed|106|rig|Curl error 7',
        'failed|4|own|Signature verification failed',
        'failed|1|old|metadata has expired',
        'locked',
        'lists|1',
        'code|106',
      ],
    ],
    ['verify', ['unfinished|rig-app|an earlier run was interrupted', 'broken|rig-web|rig-web needs rig-lib', 'code|0']],
    ['planned', ['problem|nothing provides rig-lib', 'code|0']],
    ['left', ['hold|rig-slow', 'code|0']],
  ])

  const report = await managedReport('zypper', sections)

  expect(report?.findings.map((finding) => en.findings.sentence(finding))).toEqual([
    'Repository rig could not be read. zypper (code 106) says: Curl error 7',
    'The signature of repository own is not recognized. Install its key, or remove the repository. zypper (code 4) says: Signature verification failed',
    'The lists or the key of repository old have expired. zypper (code 1) says: metadata has expired',
    'zypper is already running. Check again when it has finished.',
    'zypper refuses the upgrade: nothing provides rig-lib',
    'zypper did not finish its last work: an earlier run was interrupted',
    'Dependencies are not satisfied (zypper): rig-web needs rig-lib',
    'Held packages: no upgrade changes them until they are released.',
  ])
  const refresh = ['repository|rig|file:/srv/rig', 'lists|1', 'code|4']
  const half = await managedReport('dnf', new Map([...sections, ['refresh', refresh], ['verify', ['code|0']]]))
  expect(half?.findings.map((finding) => en.findings.sentence(finding))).toContain(
    'The package lists could not be refreshed (dnf, code 4).',
  )
  expect(otherUpgraderFindings(['timer dnf-automatic']).map((each) => en.findings.sentence(each))).toEqual([
    'dnf-automatic.timer installs updates by itself, without a snapshot and beside the plans.',
  ])
})

const older = (name: string): PackageUpdate => {
  const versions = { arch: 'amd64', from: '2.0', to: '1.0', source: name, origin: null }
  const unmarked = { security: false, size: null, cves: [] }
  return { name, ...versions, ...unmarked, action: 'downgrade', status: 'planned', reason: null }
}

test.each([
  [
    'pacman',
    'security',
    'every',
    'pacman always upgrades everything together: a part of it would leave an inconsistent system.',
  ],
  [
    'pacman',
    'all',
    'without',
    'pacman always upgrades everything together: a part of it would leave an inconsistent system.',
  ],
  ['apk', 'security', 'every', 'apk does not tell which updates fix a vulnerability.'],
  [
    'zypper',
    'all',
    'without',
    'zypper always upgrades everything together: a part of it would leave an inconsistent system.',
  ],
  ['apk', 'all', 'without', 'apk cannot leave packages out without a change of its configuration.'],
  ['apk', 'all', 'these', 'apk cannot upgrade a few packages alone.'],
  ['dnf', 'all', 'every', 'This version of dnf cannot tell beforehand what an upgrade would change.'],
] as const)(
  'a choice that %s cannot make (%s, %s) is refused with the reason, in English too',
  (manager, only, kind, told) => {
    const finding = unsupportedFinding(manager, { only, kind })

    expect(en.findings.sentence(finding)).toBe(told)
    expect(fr.findings.sentence(finding)).toBe(finding.message)
  },
)

test('the English of what forbids a plan is its reason, whatever the package manager is', () => {
  const forced = downgradeFindings([older('tool'), older('lib')])
  const found = [...excludedFindings(['app', 'lib']), ...leftOutFindings(['big']), ...forced]

  expect(found.map((finding) => en.findings.sentence(finding))).toEqual([
    'The upgrade would also change app, lib, which this choice leaves out: choose otherwise.',
    'Some packages of this choice stay as they are: apt cannot upgrade them now.',
    'A preference of apt forces an older version of tool, lib: apt refuses every upgrade.',
  ])
  expect(excludedFindings(['app'])[0]?.message).not.toMatch(/apt\b/)
  const names = Array.from({ length: 30 }, (_, n) => `app-${n}`)
  expect(excludedFindings(names).map((finding) => en.findings.sentence(finding))[0]).toMatch(/ and \d+ more, which/)
})

test('the English of other tools that upgrade names each line of cron', () => {
  const many = Array.from({ length: 7 }, (_, n) => `cron apt ${n + 1} /etc/crontab`)
  const english = (...lines: string[]) => otherUpgraderFindings(lines).map((each) => en.findings.sentence(each))

  expect(english('unattended', 'cron lxcs 3 /var/spool/cron/crontabs/root', 'cron apt 12 /etc/cron.d/nightly')).toEqual(
    [
      'The tool unattended-upgrades installs updates by itself, without a snapshot and beside the plans.',
      'Cron starts upgrades without a snapshot and beside the plans: line 3 of /var/spool/cron/crontabs/root (update-lxcs), line 12 of /etc/cron.d/nightly (apt).',
    ],
  )
  expect(english(...many)[0]).toMatch(/, line 5 of \/etc\/crontab \(apt\) and 2 more\.$/)
})

test('the English of what the panel stands on names each thing, and what is away', () => {
  const at = (target: string, roles: readonly Role[], places: readonly string[]) => ({
    target,
    roles: new Set(roles),
    places,
    units: new Set<string>(),
  })
  const english = (standing: TargetStanding, changed: readonly string[]) =>
    selfImpactFindings(standing, changed).map((finding) => en.findings.sentence(finding))

  expect(
    english(at('host', ['ssh', 'tools'], ['host', 'lxc:105']), ['openssh-server', 'pve-manager', 'ops-panel']),
  ).toEqual([
    'The upgrade changes the SSH server of the host and the tools of the hypervisor: the way to the host may be cut for a moment. It goes on at the host, and its result comes back by itself. The panel runs on this host.',
  ])
  expect(english(at('host', ['ssh', 'tools'], ['lxc:105', 'lxc:106']), [])).toEqual([
    'The panel runs in containers 105 and 106 of this host.',
  ])
  expect(
    english(at('lxc:105', ['panel', 'engine', 'proxy', 'database'], ['lxc:105']), ['runc', 'nginx', 'sqld']),
  ).toEqual([
    'The upgrade changes the container engine of the panel, the proxy of the panel and the database of the panel: the panel may be away for a moment. It goes on at the host, and its result comes back by itself. The panel, the proxy of the panel and the database of the panel run in this container, which comes last when several targets are upgraded. A return to its snapshot takes the data of the panel back too.',
  ])
  expect(english(at('lxc:107', ['relay'], ['host']), [])).toEqual([
    'The relay to the host runs in this container, which comes last when several targets are upgraded.',
  ])
  expect(english(at('host', ['panel', 'ssh', 'tools'], ['host']), ['ops-panel', 'openssh-server'])[0]).toContain(
    'the panel itself and the SSH server of the host: the panel and the way to the host may be away for a moment',
  )
  const [, newer] = standingFindings(at('lxc:105', ['panel'], ['lxc:105']), [
    { name: 'ops-panel', from: '0.2.0', to: '0.3.0', action: 'upgrade', status: 'planned' },
  ])
  expect(newer && en.findings.sentence(newer)).toBe(
    'A newer version of the panel is available: 0.3.0 (0.2.0 is installed).',
  )
})

test('the dashboard says of changed configuration files what the updates page says: they are kept', () => {
  expect(fr.dashboard.conffiles('web')).toMatch(/sur web.*garde les vôtres/)
  expect(en.dashboard.conffiles('web')).toMatch(/on web.*keeps yours/)
})
