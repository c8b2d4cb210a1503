import { expect, test } from 'vitest'
import type { Finding } from '../../../panel/nouns/checked.ts'
import { awayWith, interruptedIn, latenessOf, standsOn } from '../../../panel/nouns/impact.ts'
import { selfImpactFindings } from '../../../functions/restarts/standing-findings.ts'
import { latenessIn, type Role, standingAt } from '../../../functions/restarts/standing.ts'

/** The findings of the service about a target with these roles when these packages change; the panel runs in `places`. */
function said(target: string, roles: readonly Role[], packages: readonly string[], places: readonly string[] = []) {
  const standing = { roles: new Map([[target, new Set(roles)]]), places, units: new Set<string>() }
  const findings: Pick<Finding, 'code' | 'severity' | 'impact'>[] = selfImpactFindings(
    standingAt(standing, target),
    packages,
  )
  return { findings, lateness: latenessIn(standing)(target) }
}

test.each([
  ['the panel in a container', said('lxc:105', ['panel'], ['ops-panel'], ['lxc:105']), 'panel'],
  ['its engine', said('lxc:105', ['panel', 'engine'], ['docker-ce'], ['lxc:105']), 'panel'],
  ['its proxy', said('lxc:106', ['proxy'], ['nginx'], ['lxc:105']), 'panel'],
  ['its database', said('lxc:107', ['database'], ['sqld'], ['lxc:105']), 'panel'],
  ['a relay to the host', said('lxc:108', ['relay'], ['openssh-server'], ['lxc:105']), 'host'],
  ['the SSH server of the host', said('host', [], ['openssh-server'], ['lxc:105']), 'host'],
  ['the panel and the tools of its host', said('host', ['panel'], ['ops-panel', 'lxc'], ['host']), 'both'],
  ['the package of the panel, with no known place', said('lxc:105', [], ['ops-panel']), 'panel'],
  ['nothing that it stands on', said('lxc:105', ['panel', 'proxy'], ['curl'], ['lxc:105']), undefined],
  ['nothing on its host', said('host', ['panel'], ['curl'], ['host']), undefined],
  ['another container', said('lxc:109', [], ['openssh-server', 'nginx'], ['lxc:105']), undefined],
])('an upgrade of %s says what is away', (_, { findings }, away) => {
  expect(interruptedIn(findings)).toBe(away)
})

test('a warning without more, of an earlier version, is about the panel, and a remark about nothing', () => {
  expect(interruptedIn([{ code: 'self_impact', severity: 'warning' }])).toBe('panel')
  expect(interruptedIn([{ code: 'self_impact', severity: 'info' }])).toBeUndefined()
  expect(interruptedIn([{ code: 'disk_low', severity: 'warning' }])).toBeUndefined()
})

test.each([
  said('lxc:105', ['panel'], [], ['lxc:105']),
  said('lxc:105', ['panel', 'proxy'], [], ['lxc:105']),
  said('lxc:105', ['panel', 'proxy', 'database'], ['ops-panel'], ['lxc:105']),
  said('lxc:106', ['proxy'], [], ['lxc:105']),
  said('lxc:106', ['proxy', 'database'], [], ['lxc:105']),
  said('lxc:107', ['relay'], [], ['lxc:105']),
])('the order of a run is that of the service', ({ findings, lateness }) => {
  expect(latenessOf('lxc:105', findings)).toBe(lateness)
})

test('the host comes last, and a target on which nothing stands first', () => {
  expect(latenessOf('lxc:109', [])).toBe(0)
  expect(latenessOf('host', [])).toBe(3)
})

test.each([
  ['on the host', said('host', ['panel'], [], ['host']), true],
  ['in a container, as the host tells', said('host', [], [], ['lxc:105']), true],
  ['in a container, as the container tells', said('lxc:105', ['panel'], [], ['lxc:105']), true],
  ['behind a proxy in a container', said('lxc:106', ['proxy'], [], []), true],
  ['elsewhere, through a relay', said('lxc:107', ['relay'], ['openssh-server'], []), false],
  ['elsewhere', said('host', [], ['openssh-server', 'lxc'], []), false],
])('a panel %s goes away with the host, or stays', (_, { findings }, goes) => {
  expect(standsOn([{ findings: [] }, { findings }])).toBe(goes)
})

test('several interruptions take away together what each of them does', () => {
  expect(awayWith([])).toBeUndefined()
  expect(awayWith([null, undefined])).toBeUndefined()
  expect(awayWith([null, 'host'])).toBe('host')
  expect(awayWith(['panel', null])).toBe('panel')
  expect(awayWith(['panel', 'host'])).toBe('both')
  expect(awayWith(['both', null])).toBe('both')
})
