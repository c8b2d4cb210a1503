import { expect, test } from 'vitest'
import { readReport } from '../../functions/checks/check-report.ts'
import { withoutControls } from '../../functions/managers/sections.ts'
import { planLines } from '../../functions/plans/plan.ts'
import { readPlanReport } from '../../functions/plans/plan-report.ts'
import { inspected, planned } from '../functions/managers/inspected.ts'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import type { Random } from '../soak/random.ts'
import { mutated } from './simulations.ts'

const OUTPUTS = rounds(3_000, 100_000)
const TEST_MS = 60_000 + 20 * OUTPUTS
const seed = seedOf('test/property/managed-report.test.ts', 'whole')

const MANAGERS = ['apk', 'dnf', 'zypper', 'pacman'] as const
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'] as [string, ...string[]]
const IN_NAMES = [...LETTERS, ...'+.@-'] as [string, ...string[]]
const IN_VERSIONS = [...LETTERS, ...'.+:~^-'] as [string, ...string[]]
/** A line of a hash that no other line can be confused with. */
const CLEAN = /^(upgrade|install|remove|downgrade) [!-~]+ [!-~]+ [!-~]+$/

const word = (random: Random, most: number, letters: readonly [string, ...string[]]) =>
  `${random.pick(LETTERS)}${Array.from({ length: random.between(0, most) }, () => random.pick(letters)).join('')}`

interface Made {
  line: string
  change: string
  size: number | null
  room: number | null
}

/** A line `change …` as a manager prints it, and the line of the hash that it stands for. */
function changeOf(random: Random, at: number): Made {
  const action = random.pick(['upgrade', 'upgrade', 'install', 'remove', 'downgrade', 'reinstall'] as const)
  const name = `${word(random, 20, IN_NAMES)}-${at}`
  const arch = random.pick(['x86_64', 'noarch', 'any', 'all', 'aarch64'])
  const version = () => `${random.chance(0.3) ? `${random.between(1, 9)}:` : ''}${word(random, 12, IN_VERSIONS)}`
  const from = action === 'install' ? '-' : version()
  const to = action === 'remove' ? '-' : version()
  const size = random.chance(0.9) ? random.between(0, 90_000_000) : null
  const room = random.chance(0.9) ? random.between(-9_000_000, 9_000_000) : null
  const fields = [
    ...['change', action, name, arch, from, to, random.pick(['-', 'rig', 'https://m/x y'])],
    ...[random.pick(['0', '1']), size ?? '-', room ?? '-', random.pick(['-', word(random, 20, IN_NAMES)])],
  ]
  const told = action === 'reinstall' ? 'upgrade' : action
  return {
    line: fields.join('|'),
    change: `${told} ${name}:${arch} ${from} ${to}`,
    size: action === 'remove' ? 0 : size,
    room,
  }
}

const sum = (all: readonly (number | null)[]) =>
  all.includes(null) ? null : all.reduce<number>((total, one) => total + (one ?? 0), 0)

test(`each of ${OUTPUTS} plans is read as the changes and sizes that it was made of`, {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed)
  for (let round = 0; round < OUTPUTS; round++) {
    const made = Array.from({ length: random.between(0, 40) }, (_, at) => changeOf(random, at))
    const text = planned({ planned: [...made.map(({ line }) => line), 'code|0'] }, random.pick(MANAGERS))
    const report = await readPlanReport(text)
    const read = [planLines(report?.actions ?? []), report?.download_bytes, report?.disk_bytes]
    const expected = [
      made.map(({ change }) => change).sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      sum(made.map(({ size }) => size)),
      sum(made.map(({ room }) => room)),
    ]
    if (JSON.stringify(read) !== JSON.stringify(expected)) expect({ text, read }).toEqual({ text, read: expected })
  }
})

test(`${OUTPUTS} damaged answers are read without an exception, as no result or with clean lines`, {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed + 1)
  let refused = 0
  for (let round = 0; round < OUTPUTS; round++) {
    const made = Array.from({ length: random.between(1, 10) }, (_, at) => changeOf(random, at).line)
    const manager = random.pick(MANAGERS)
    const ofPlan = mutated(random, planned({ planned: [...made, 'code|0'] }, manager))
    const ofCheck = mutated(random, inspected({ planned: [...made, 'code|0'] }, manager))
    const plan = await readPlanReport(ofPlan)
    const check = await readReport(ofCheck.split('\n').map(withoutControls), 'container')
    if (!plan) refused += 1
    const lines = planLines([...(plan?.actions ?? []), ...(check?.packages ?? [])])
    expect(lines.filter((line) => !CLEAN.test(line))).toEqual([])
  }
  expect(refused).toBeGreaterThan(OUTPUTS / 10)
})

/** Each would take minutes if the time grew with the square of the length. */
const LONG = 1_000_000
const many = (piece: string) => piece.repeat(LONG / piece.length)

test.each([
  ['a name', `change|upgrade|${many('a')}|x|1|2|r|0|1|1|s`],
  ['fields', `change${many('|a')}`],
  ['bars', many('|')],
  ['a version of digits', `change|upgrade|a|x|${many('0')}|${many('1')}|r|0|1|1|s`],
  ['a problem', `problem|${many('x ')}`],
  ['prefixes', many('change|')],
  ['a code', `code|${many('0')}`],
])('a hostile line of a million characters is read in linear time: %s', async (_title, line) => {
  const report = await readPlanReport(planned({ planned: [line, 'code|0'] }))
  const check = await readReport(
    inspected({
      planned: [line, 'code|0'],
      refresh: [line, 'code|0'],
      verify: [line, 'code|0'],
      left: [line, 'code|0'],
    }).split('\n'),
    'container',
  )

  expect(report?.actions ?? []).toEqual([])
  expect(JSON.stringify(check ?? null).length).toBeLessThan(10_000)
})

test('very many messages, repositories and holds are bounded', async () => {
  const all = (line: (at: number) => string) => Array.from({ length: 10_000 }, (_, at) => line(at))
  const report = await readReport(
    inspected({
      refresh: [...all((at) => `repository|r${at}|http://m/${at}`), 'code|0'].filter((_, at) => at < 100 || at > 9_999),
      verify: [...all((at) => `broken|p${at}|${'x'.repeat(1_000)}`), 'code|0'],
      left: [...all((at) => `hold|p${at}`), 'code|0'],
      planned: [...all((at) => `problem|${at} ${'x'.repeat(1_000)}`), 'code|0'],
    }).split('\n'),
    'container',
  )

  expect(report?.summary.findings.length).toBeLessThanOrEqual(100)
  expect(JSON.stringify(report?.summary).length).toBeLessThan(100_000)
})
