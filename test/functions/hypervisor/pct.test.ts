import { expect, test } from 'vitest'
import { inContainer, parseContainers } from '../../../functions/hypervisor/pct.ts'

const HEADER = 'VMID       Status     Lock         Name                '

test('the listing’s columns are read, with a blank, a filled and an overlong lock', async () => {
  const text = [
    HEADER,
    '101        running                 web                 ',
    '102        stopped    backup       db                  ',
    '103        running    snapshot-delete mail             ',
    '',
  ].join('\n')

  expect(await parseContainers(text)).toEqual([
    { vmid: 101, status: 'running', name: 'web' },
    { vmid: 102, status: 'stopped', lock: 'backup', name: 'db' },
    { vmid: 103, status: 'running', lock: 'snapshot-delete', name: 'mail' },
  ])
})

test.each([
  ['a blank line', ''],
  ['a line of spaces', '   \t '],
  ['the header', HEADER],
  ['a header that is indented', `  ${HEADER}`],
  ['a header without columns', 'VMID'],
  ['a line with one field', '101'],
  ['a first field that is a word', 'warning: running web'],
  ['a first field that only begins with digits', '101a running web'],
  ['a first field with a fraction', '101.5 running web'],
  ['a hexadecimal first field', '0x65 running web'],
])('%s is skipped', async (_, line) => {
  expect(await parseContainers(`${line}\n102 running db\n`)).toEqual([{ vmid: 102, status: 'running', name: 'db' }])
})

test('the name is the last of three or more fields, and the vmid as text when there are two', async () => {
  expect(await parseContainers('101 running')).toEqual([{ vmid: 101, status: 'running', name: '101' }])
  expect(await parseContainers('101 running a b c')).toEqual([{ vmid: 101, status: 'running', lock: 'a', name: 'c' }])
})

test('a nameless lock is read as the name, as the specification says', async () => {
  expect(await parseContainers('101 stopped backup')).toEqual([{ vmid: 101, status: 'stopped', name: 'backup' }])
})

test('the status is the listed word, known or not', async () => {
  expect(await parseContainers('101 frozen web')).toEqual([{ vmid: 101, status: 'frozen', name: 'web' }])
})

test('tabs, carriage returns and leading spaces are accepted; the order stays', async () => {
  expect(await parseContainers(`${HEADER}\r\n  102\tstopped\tdb\r\n101 running web\r\n`)).toEqual([
    { vmid: 102, status: 'stopped', name: 'db' },
    { vmid: 101, status: 'running', name: 'web' },
  ])
})

test('an empty listing has no containers', async () => {
  expect(await parseContainers('')).toEqual([])
  expect(await parseContainers(`${HEADER}\n`)).toEqual([])
})

test('a command enters the container by the absolute path, with the id as one argument', () => {
  expect(inContainer(`1'; reboot`, ['env', 'LC_ALL=C', 'apt'])).toEqual([
    '/usr/sbin/pct',
    'exec',
    `1'; reboot`,
    '--',
    'env',
    'LC_ALL=C',
    'apt',
  ])
})
