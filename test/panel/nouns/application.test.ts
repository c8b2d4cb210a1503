import { expect, test } from 'vitest'
import {
  agreementFor,
  type Application,
  applicationsIn,
  changesSince,
  deedOf,
  imageChanges,
  imagesIn,
  type Source,
  standingOf,
  versionsIn,
} from '../../../panel/nouns/application.ts'
import { told } from '../flows/update-states.ts'
import { finding } from '../flows/update-states.ts'

const one = (rest: Partial<Application> = {}): Application => ({
  id: 'snap:lxd',
  kind: 'snap',
  name: 'lxd',
  version: '5.21 (1)',
  available: null,
  source: null,
  updatable: false,
  ...rest,
})
const source = {
  address: 'https://a.example/x.sh',
  digest: 'a'.repeat(64),
  agreed: false,
  agreed_by: null,
  agreed_at: null,
}
const about = (kind: string) => `Application non vérifiée — ${kind} : la réponse n’est pas complète.`

test.each([
  [
    'a script that somebody has agreed to',
    one({ kind: 'community_script', updatable: true, source: { ...source, agreed: true } }),
    'agreed',
  ],
  ['a script that nobody has agreed to', one({ kind: 'community_script', updatable: true, source }), 'unread'],
  ['a script that does more than load one', one({ kind: 'community_script', source }), 'manual'],
  ['a stack that cannot be updated', one({ kind: 'compose', name: 'web', available: 'nginx b', source }), 'manual'],
  ['a newer snap', one({ available: '5.22 (2)' }), 'itself'],
  ['a snap without a newer version', one(), 'current'],
] as const)('%s', (_, application, standing) => {
  expect(standingOf(application, [])).toBe(standing)
})

test.each([
  ['of its kind', finding('application_update', { message: about('snap') }), 'unknown'],
  ['of the script', finding('application_update', { message: about('community_script') }), 'current'],
  ['of another kind', finding('application_update', { message: about('flatpak') }), 'current'],
  ['that names it', finding('application_update', { packages: ['lxd'], message: about('lxd') }), 'unknown'],
  [
    'that names another one',
    finding('application_update', { packages: ['core24'], message: about('core24') }),
    'current',
  ],
  ['in other words', finding('application_update', { message: 'x' }), 'unknown'],
  ['that is a remark', finding('application_update', { severity: 'info', packages: ['lxd'] }), 'current'],
] as const)('with a warning %s, an application without a newer version is %s', (_, warning, standing) => {
  expect(standingOf(one(), [warning])).toBe(standing)
})

test('nobody gets a button that ends in a refusal', () => {
  const user = { isAdmin: false, mayOperate: true, isHost: false }
  const admin = { isAdmin: true, mayOperate: true, isHost: false }

  expect([deedOf('unread', user), deedOf('agreed', user), deedOf('manual', user)]).toEqual(['read', 'read', undefined])
  expect([deedOf('unread', admin), deedOf('agreed', admin), deedOf('manual', admin)]).toEqual([
    'read',
    'update',
    'terminal',
  ])
  expect(deedOf('agreed', { isAdmin: true, mayOperate: true, isHost: true })).toBeUndefined()
  expect(deedOf('current', admin)).toBeUndefined()
  const viewer = { isAdmin: false, mayOperate: false, isHost: false }
  expect([deedOf('unread', viewer), deedOf('agreed', viewer)]).toEqual([undefined, undefined])
})

test('applications are counted once each, without the panel, warnings and stopped containers', () => {
  const found = (packages: string[], severity: 'info' | 'warning' = 'info') =>
    finding('application_update', { severity, packages })

  expect(
    applicationsIn([
      told('lxc:101', 'a', { findings: [found(['x', 'y']), found(['x'])] }),
      told('lxc:102', 'b', { findings: [found(['ops-panel'])] }),
      told('lxc:103', 'c', { findings: [found(['z'], 'warning')] }),
      told('lxc:104', 'd', { state: 'stopped', findings: [found(['z'])] }),
    ]),
  ).toBe(2)
})

const A = `sha256:${'a'.repeat(64)}`
const B = `sha256:${'b'.repeat(64)}`

test('the text of a stack is read as images, and any other text is none', () => {
  const text = `web: nginx:1.27\n  ${A} -> ${B}\ncache: redis\n  ${A}\nother: registry.example/x\n  ${A} ?\n`

  expect(imagesIn(text)).toEqual([
    { service: 'web', image: 'nginx:1.27', from: A, to: B, isKnown: true },
    { service: 'cache', image: 'redis', from: A, to: A, isKnown: true },
    { service: 'other', image: 'registry.example/x', from: A, to: A, isKnown: false },
  ])
  expect(imagesIn(`${text}more\n`)).toBeUndefined()
  expect(imagesIn('')).toBeUndefined()
})

test('files are compared by address and digest', () => {
  const of = (files: Record<string, string>): Source => ({
    address: 'a',
    digest: 'd',
    agreed: false,
    refused: [],
    files: Object.entries(files).map(([address, digest]) => ({ address, digest, size: 1, text: '' })),
  })
  const { of: change, gone } = changesSince(of({ a: '1', b: '1', c: '1' }), of({ a: '1', b: '2', d: '1' }))

  expect(['a', 'b', 'd'].map(change)).toEqual(['same', 'changed', 'new'])
  expect(gone).toEqual(['c'])
})

test('the versions of a run are read from its line alone', () => {
  expect(versionsIn('ops-panel: version 1.0 -> 1.1')).toEqual({ from: '1.0', to: '1.1' })
  expect(versionsIn('ops-panel: version - -> -')).toEqual({ from: null, to: null })
  expect(versionsIn(' ops-panel: version 1.0 -> 1.1')).toBeUndefined()
})

const [ONE, TWO, NEW] = ['a', 'b', 'c'].map((digit) => digit.repeat(12))

test.each([
  ['one image of two', `caddy:2 ${ONE}, redis:7 ${TWO}`, `redis:7 ${NEW}`, [{ from: `redis:7 ${TWO}`, to: NEW }]],
  [
    'all images',
    `caddy:2 ${ONE}, redis:7 ${TWO}`,
    `caddy:2 ${TWO}, redis:7 ${NEW}`,
    [
      { from: `caddy:2 ${ONE}`, to: TWO },
      { from: `redis:7 ${TWO}`, to: NEW },
    ],
  ],
  ['an image that has two digests', `caddy:2 ${ONE}, caddy:2 ${TWO}`, `caddy:2 ${NEW}`, undefined],
  ['an image that was not there', `caddy:2 ${ONE}`, `redis:7 ${NEW}`, undefined],
  ['a text that was cut', `caddy:2 ${ONE}, redi…`, `caddy:2 ${NEW}`, undefined],
  ['versions', '2.18.4', '2.19.0', undefined],
  ['nothing newer', `caddy:2 ${ONE}`, null, undefined],
])('the versions of a stack with %s', (_, before, after, expected) => {
  expect(imageChanges(before, after)).toEqual(expected)
})

test('an agreement is told as one to this only while the service says so, and never after somebody has withdrawn it', () => {
  const agreement = { digest: 'a'.repeat(64), by: 'demo', at: '2026-03-01T12:00:00.000Z' }
  const other = 'b'.repeat(64)

  expect(agreementFor(agreement, undefined)).toEqual({ told: agreement })
  expect(agreementFor(agreement, { digest: agreement.digest, agreed: true })).toEqual({ told: agreement })
  expect(agreementFor(agreement, { digest: agreement.digest, agreed: false })).toEqual({})
  expect(agreementFor(agreement, { digest: other, agreed: false })).toEqual({ former: agreement })
  expect(agreementFor(undefined, { digest: other, agreed: true })).toEqual({})
})
