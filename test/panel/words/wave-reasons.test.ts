import { expect, test } from 'vitest'
import { downgradeFindings, dpkgFindings } from '../../../functions/checks/check-report.ts'
import { diskFindings, mountFindings } from '../../../functions/checks/system-findings.ts'
import { findingOf } from '../../../functions/findings/finding.ts'
import { repositoryFindings } from '../../../functions/findings/repository-findings.ts'
import { managedReport, unsupportedFinding } from '../../../functions/managers/managed-report.ts'
import { english as inMessage } from '../../../notifications/english.ts'
import { createTranslation } from '../../../panel/nouns/from-service.ts'
import { sentences } from '../../../panel/words/en.ts'

const inPanel = createTranslation(sentences)

/** Findings that the run of a schedule keeps, in French, as the reason why a target had no plan. */
async function reasons() {
  const refresh = ['repository|rig|http://m/rig', 'failed|106|rig|Curl error 7', 'failed|4|own|Signature is bad']
  const unready: [string, string[]][] = [
    ['refresh', [...refresh, 'failed|1|old|metadata has expired', 'locked', 'lists|1', 'code|106']],
    ['verify', ['unfinished|-|a lock of an earlier run', 'broken|web|web needs lib', 'code|0']],
    ['planned', ['problem|nothing provides lib', 'code|0']],
    ['left', ['code|0']],
    ['security', ['told']],
  ]
  const half: [string, string[]][] = [
    ['refresh', ['repository|rig|http://m/rig', 'lists|1', 'code|4']],
    ['verify', ['code|0']],
    ['planned', ['code|0']],
    ['left', ['code|0']],
    ['security', ['told']],
  ]
  const lines = [
    'W: Failed to fetch http://m/debian/dists/stable/InRelease  Could not connect',
    "E: Repository 'http://m/x stable InRelease' changed its 'Codename' value from 'a' to 'b'",
    'W: GPG error: http://m/y stable InRelease: NO_PUBKEY 1234',
    'E: Release file for http://m/z/dists/stable/InRelease is expired (invalid since 2d)',
  ]
  return [
    unsupportedFinding('pacman', { only: 'security', kind: 'every' }),
    unsupportedFinding('apk', { only: 'security', kind: 'every' }),
    unsupportedFinding('dnf', { only: 'all', kind: 'every' }),
    ...((await managedReport('pacman', new Map(unready)))?.findings ?? []),
    ...((await managedReport('dnf', new Map(half)))?.findings ?? []),
    ...repositoryFindings(lines),
    ...diskFindings(['/ 1000 1024 2000 a'], { download: 0, disk: 2_500_000_000 }, false),
    ...mountFindings(['/ ro']),
    ...dpkgFindings(true, []),
    ...downgradeFindings([]),
    findingOf('dependencies_broken', { message: 'apt refuse la mise à jour : E' }),
    ...(['dependencies_broken', 'root_read_only', 'lists_stale', 'manager_locked'] as const).map((code) =>
      findingOf(code),
    ),
  ].map(({ message }) => message)
}

test('the reason of an impossible plan is English on the English page of a run, and in an English message', async () => {
  const all = await reasons()

  expect(all.length).toBeGreaterThan(20)
  for (const translated of [inPanel, inMessage])
    expect(all.map(translated).filter((text) => /[àâçéèêîôù’«]|\b(le|la|les|des|une|pas)\b/i.test(text))).toEqual([])
})

test.each([
  ['7,3 Mio', '1,2 Gio', '7.3 MiB', '1.2 GiB'],
  // Those of checks by former versions.
  ['7,3 Mo', '1,2 Go', '7.3 MB', '1.2 GB'],
])('the numbers of a reason are those of its language (%s, %s)', (needed, left, need, rest) => {
  const reason = `La place manque sur /var : la mise à jour demande ${needed}, il reste ${left}.`

  for (const translated of [inPanel, inMessage])
    expect(translated(reason)).toBe(
      `There is not enough space on /var: the upgrade needs ${need}, and ${rest} are left.`,
    )
})
