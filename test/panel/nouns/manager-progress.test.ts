import { expect, test } from 'vitest'
import { createAptReader, lineKind } from '../../../panel/nouns/apt-progress.ts'

/** Lines that each manager prints for an upgrade of two packages on Debian’s builds of it, or as its source has them. */
const OUTPUTS: [manager: string, lines: string[], last: string][] = [
  [
    'dnf 4',
    [
      'Dependencies resolved.',
      'Upgrade  2 Packages',
      'Running transaction',
      '  Preparing        :                                                        1/1 ',
      '  Upgrading        : rig-maplib-2.0-1.noarch                                1/4 ',
      '  Upgrading        : rig-killer-2.0-1.noarch                                2/4 ',
      '  Running scriptlet: rig-killer-2.0-1.noarch                                2/4 ',
      '  Cleanup          : rig-maplib-1.0-1.noarch                                3/4 ',
      '  Cleanup          : rig-killer-1.0-1.noarch                                4/4 ',
    ],
    'rig-killer-1.0-1.noarch',
  ],
  [
    'dnf 5',
    [
      '[1/3] Verify package files             100% |   2.0 KiB/s |   2.0   B |  00m00s',
      '[2/4] Upgrading bash-0:5.2-1.fc41.x86_64 100% |  34.0 MiB/s |   8.2 MiB |  00m00s',
      '[4/4] Removing bash-0:5.1-1.fc41.x86_64 100% |  34.0 MiB/s |   8.2 MiB |  00m00s',
    ],
    'bash-0:5.1-1.fc41.x86_64',
  ],
  [
    'zypper',
    [
      'Retrieving package rig-killer-2.0-1.noarch (1/2),   6.4 KiB (    4   B unpacked)',
      'Retrieving package rig-maplib-2.0-1.noarch (2/2),  24.8 KiB ( 46.0 KiB unpacked)',
      '(1/2) Installing: rig-killer-2.0-1.noarch [......done]',
      '(2/2) Installing: rig-maplib-2.0-1.noarch [........done]',
    ],
    'rig-maplib-2.0-1.noarch',
  ],
  [
    'pacman',
    [
      ':: Starting full system upgrade...',
      'Packages (2) rig-killer-2.0-1  rig-maplib-2.0-1',
      ' rig-maplib-2.0-1-any downloading...',
      ' rig-killer-2.0-1-any downloading...',
      ':: Processing package changes...',
      'upgrading rig-killer...',
      'upgrading rig-maplib...',
    ],
    'rig-maplib',
  ],
  [
    'apk',
    ['(1/2) Upgrading musl (1.2.4-r2 -> 1.2.4-r3)', '(2/2) Upgrading busybox (1.36.1-r5 -> 1.36.1-r7)'],
    'busybox',
  ],
]

test.each(OUTPUTS)('the progress of %s only grows, and names the package', (_manager, lines, last) => {
  const reader = createAptReader()
  const fractions: number[] = []
  for (const line of lines) {
    reader.line(line)
    const { fraction } = reader.read().progress
    if (fraction !== undefined) fractions.push(fraction)
  }

  const { progress, errors } = reader.read()
  expect(fractions.length).toBeGreaterThan(1)
  expect(fractions).toEqual([...fractions].sort((one, other) => one - other))
  expect(fractions.at(-1)).toBeGreaterThan(0.9)
  expect(progress).toMatchObject({ step: 'unpack', package: last })
  expect(errors).toBe(0)
})

test('a failure counts where another manager than apt works, and a script of a package that says error under apt does not', () => {
  const reader = createAptReader()
  reader.line('error: from a script of a package')
  expect(reader.read().errors).toBe(0)

  reader.line('upgrading rig-killer...')
  reader.line('error: command failed to execute correctly')

  expect(reader.read().errors).toBe(1)
  expect(lineKind('error: command failed to execute correctly')).toBe('err')
  expect(lineKind('ERROR: unable to select packages:')).toBe('err')
  expect(lineKind('warning: /etc/rig-conf.conf installed as /etc/rig-conf.conf.pacnew')).toBe('warn')
  expect(lineKind('upgrading rig-killer...')).toBe('done')
})

test('a long line, numbers without end and words of no manager say nothing', () => {
  const reader = createAptReader()
  const before = reader.read()
  for (const line of [
    `(1/2) Installing: ${'a'.repeat(2_000)}`,
    `(${'9'.repeat(400)}/2) Installing: x`,
    '(1/2) installed nothing',
    'Packages (many) x',
    '[1/2] Looking at x',
  ])
    reader.line(line)
  expect(reader.read()).toEqual(before)
})
