import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../platform/config.ts'
import { operatorGroups } from '../../platform/operator-groups.ts'

const read = (text: string) => Object.fromEntries(operatorGroups(text) ?? [['refused', 'all']])

test.each([
  ['ops', { ops: 'all' }],
  ['ops,web', { ops: 'all', web: 'all' }],
  ['web:lxc/101,lxc/102;db:host;ops', { web: ['lxc:101', 'lxc:102'], db: ['host'], ops: 'all' }],
  [' web : lxc/101 , host ; ops ', { web: ['lxc:101', 'host'], ops: 'all' }],
  ['web:lxc/101;web:lxc/102,lxc/101', { web: ['lxc:101', 'lxc:102'] }],
  ['web:lxc/101;web', { web: 'all' }],
  ['web;web:lxc/101', { web: 'all' }],
  [';ops;', { ops: 'all' }],
  ['__proto__x:host;constructor', { __proto__x: ['host'], constructor: 'all' }],
])('%s', (text, groups) => {
  expect(read(text)).toEqual(groups)
})

test.each([
  ...['web:', 'web:;ops', ':host', ':', 'web,db:host', 'web:all', 'web:lxc:101', 'web:lxc/', 'web:lxc/0', 'web:lxc/01'],
  ...['web:lxc/-1', 'web:lxc/1e3', 'web:lxc/1234567890', 'web:host,', 'web:host,,lxc/101', 'web:HOST', 'web:host:ops'],
  ...['web:lxc/101 lxc/102', 'web:lxc/101\nops', 'web:lxc/١٠١', 'web:../host', 'web:*'],
])('%j is refused as a whole, and so is the start', (text) => {
  expect(operatorGroups(text)).toBeUndefined()
  expect(() => readConfig({ PANEL_OPERATOR_GROUPS: text })).toThrow(ConfigError)
  expect(() => readConfig({ PANEL_OPERATOR_GROUPS: text })).toThrow('PANEL_OPERATOR_GROUPS')
})

test('a group whose name is that of an inherited property has no targets of its own', () => {
  expect(operatorGroups('ops')?.get('toString')).toBeUndefined()
  expect(operatorGroups('__proto__:host')?.get('__proto__')).toEqual(['host'])
})

test('200 targets in all can be named, and no more', () => {
  const named = (count: number, from = 100) => Array.from({ length: count }, (_, n) => `lxc/${from + n}`).join(',')

  expect(operatorGroups(`a:${named(200)}`)?.get('a')).toHaveLength(200)
  expect(operatorGroups(`a:${named(100)};b:${named(101)}`)).toBeUndefined()
  // A target that is named twice for one group counts once.
  expect(operatorGroups(`a:${named(200)};a:${named(200)}`)?.get('a')).toHaveLength(200)
})

test('unset variables decide nothing; an empty one counts as unset', () => {
  for (const env of [{}, { PANEL_OPERATOR_GROUPS: '', PANEL_VIEWER_GROUPS: '', PANEL_SIGN_IN_GROUPS: '' }])
    expect(readConfig(env)).toMatchObject({
      operatorGroups: undefined,
      viewerGroups: undefined,
      signInGroups: undefined,
      requireFactor: 'off',
    })
})

test('a list of groups that names none admits nobody: it is set', () => {
  const {
    signInGroups,
    viewerGroups,
    operatorGroups: operators,
  } = readConfig({
    ...{ PANEL_SIGN_IN_GROUPS: ',', PANEL_VIEWER_GROUPS: ' ', PANEL_OPERATOR_GROUPS: ';' },
  })

  expect([signInGroups, viewerGroups, operators]).toEqual([[], [], new Map()])
})

test.each([['admin'], ['ALL'], ['on']])('PANEL_REQUIRE_FACTOR=%s is refused', (text) => {
  expect(() => readConfig({ PANEL_REQUIRE_FACTOR: text })).toThrow('PANEL_REQUIRE_FACTOR')
})
