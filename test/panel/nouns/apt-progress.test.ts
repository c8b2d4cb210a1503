import { expect, test } from 'vitest'
import { updateLines, upgradeLines } from '../../../demo/apt-output.ts'
import type { Place } from '../../../demo/place.ts'
import { createAptReader, lineKind, progressOfAll } from '../../../panel/nouns/apt-progress.ts'
import { createLines } from '../../../panel/nouns/lines.ts'
import { outcomeOf } from '../../../panel/nouns/outcome.ts'

function reading(...lines: string[]) {
  const reader = createAptReader()
  for (const line of lines) reader.line(line)
  return reader.read()
}

const APT_2 = '23 upgraded, 2 newly installed, 1 to remove and 3 not upgraded.'
const APT_3 = '  Upgrading: 23, Installing: 2, Removing: 1, Not Upgrading: 3'

test('the amount of work is unknown until apt reports it', () => {
  expect(reading('Hit:1 http://deb.debian.org bookworm InRelease').progress).toMatchObject({
    step: 'lists',
    fraction: undefined,
  })
})

test.each([APT_2, APT_3])('%s: 25 packages', (summary) => {
  expect(reading(summary).progress).toMatchObject({ step: 'download', total: 25, fraction: 0 })
})

test('an upgrade with nothing to do is done', () => {
  expect(reading('0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.').progress).toMatchObject({
    step: 'done',
    fraction: 1,
  })
})

test('progress only grows, from 0 to 1', () => {
  const place: Place = {
    id: '101',
    name: 'web',
    running: true,
    upgradable: [
      { name: 'curl', arch: 'amd64', version: '2', old: '1', suite: 'stable', size: 300 },
      { name: 'libssl3', arch: 'amd64', version: '2', old: '1', suite: 'stable-security', size: 2000 },
    ],
    lock: undefined,
  }
  const reader = createAptReader()
  const lines = createLines()
  const fractions: number[] = []
  const steps = new Set<string>()
  for (const chunk of [...updateLines(place), ...upgradeLines(place)]) {
    lines.feed(chunk, (line) => {
      reader.line(line)
      const { fraction, step } = reader.read().progress
      if (fraction !== undefined) fractions.push(fraction)
      steps.add(step)
    })
  }

  expect(fractions).toEqual([...fractions].sort((a, b) => a - b))
  expect(fractions.at(-1)).toBeCloseTo(1)
  expect([...steps]).toEqual(['lists', 'download', 'unpack', 'configure', 'triggers'])
  expect(reader.read().progress).toMatchObject({ done: 2, total: 2 })
})

test('each container of a job over all starts from zero; skipped containers and errors are reported', () => {
  const { progress, skipped, errors } = reading(
    '=== LXC 101 ===',
    APT_2,
    'Setting up curl (2) ...',
    '=== LXC 102 ===',
    'E: Could not get lock /var/lib/dpkg/lock-frontend.',
    'SKIP LXC 102',
    '=== LXC 104 ===',
  )
  expect(progress).toMatchObject({ container: '104', begun: 3, step: 'lists', fraction: undefined })
  expect([skipped, errors]).toEqual([['102'], 1])
})

const THREE = [
  { vmid: 101, name: 'web' },
  { vmid: 102, name: 'db' },
  { vmid: 103, name: '' },
]

test('a job over all reports the current container, its position and the overall share', () => {
  const reader = createAptReader(() => THREE.map(({ vmid }) => `${vmid}`))
  const told: [number, string, number][] = []
  const read = (...lines: string[]) => {
    for (const line of lines) reader.line(line)
    const { at, of, name, fraction } = progressOfAll(reader.read().progress, THREE)
    expect(of).toBe(3)
    told.push([at, name, Math.round(fraction * 100)])
  }
  read()
  read('=== LXC 101 ===', '1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.', 'Unpacking a (2) ...')
  read('Setting up a (2) ...', '=== LXC 102 ===', 'Reading package lists...')
  read('0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.')
  read('=== LXC 103 ===')
  read('SKIP LXC 103')

  expect(told).toEqual([
    [0, '', 0],
    [1, 'web', 22],
    [2, 'db', 33],
    [2, 'db', 67],
    [3, '103', 67],
    [3, '103', 100],
  ])
})

test('a container that imitates the job’s lines neither restarts the progress nor skips containers', () => {
  const reader = createAptReader(() => THREE.map(({ vmid }) => `${vmid}`))
  for (const line of ['=== LXC 101 ===', '=== LXC 102 ===', '=== LXC 101 ===', '=== LXC 999 ===', 'SKIP LXC 101'])
    reader.line(line)

  expect(reader.read()).toMatchObject({ progress: { container: '102', begun: 2 }, skipped: [] })
})

test.each([
  ['=== LXC 101 ===', 'section'],
  ['SKIP LXC 101', 'warn'],
  ['W: Possible missing firmware', 'warn'],
  ['E: Unable to locate package x', 'err'],
  ['dpkg: error processing package x (--configure):', 'err'],
  ['Setting up curl (2) ...', 'done'],
  ['Preparing to unpack .../x.deb ...', undefined],
])('%s is %s', (line, kind) => {
  expect(lineKind(line)).toBe(kind)
})

const CONTAINER = { vmid: 101, name: 'web', state: 'done', exit_code: 0 } as const

test.each([
  [{ status: 'success', exitCode: 0 }, 'done'],
  [{ status: 'success', exitCode: null }, 'done'],
  [{ status: 'success' }, 'unknown'],
  [{ status: 'success', exitCode: 100 }, 'failed'],
  [{ status: 'success', exitCode: 0, errors: 1 }, 'flawed'],
  [{ status: 'success', exitCode: 0, containers: [CONTAINER], errors: 1 }, 'done'],
  [{ status: 'success', exitCode: 0, containers: [CONTAINER, { ...CONTAINER, state: 'stopped' }] }, 'done'],
  [{ status: 'success', exitCode: 0, containers: [CONTAINER, { ...CONTAINER, state: 'failed' }] }, 'flawed'],
  [{ status: 'success', exitCode: 0, containers: [CONTAINER, { ...CONTAINER, state: 'warned' }] }, 'warned'],
  [
    {
      status: 'success',
      exitCode: 0,
      containers: [
        { ...CONTAINER, state: 'warned' },
        { ...CONTAINER, state: 'failed' },
      ],
    },
    'flawed',
  ],
  [
    {
      status: 'success',
      exitCode: 0,
      containers: [
        { ...CONTAINER, state: 'warned' },
        { ...CONTAINER, state: 'waiting' },
      ],
    },
    'unknown',
  ],
  [{ status: 'success', exitCode: 0, warnings: ['Le dépôt x n’a pas pu être actualisé.'], errors: 1 }, 'warned'],
  [{ status: 'success', exitCode: 100, warnings: ['Le dépôt x n’a pas pu être actualisé.'] }, 'failed'],
  [{ status: 'success', exitCode: 0, warnings: [] }, 'done'],
  [{ status: 'success', exitCode: 0, containers: [] }, 'done'],
  [{ status: 'error' }, 'failed'],
  [{ status: 'error', errorCode: 'host_rebooted', containers: [CONTAINER] }, 'failed'],
  [{ status: 'error', errorCode: 'cancelled' }, 'cancelled'],
  [{ status: 'running' }, 'running'],
] as const)('%o has the outcome %s', (ended, outcome) => {
  expect(outcomeOf(ended)).toBe(outcome)
})
