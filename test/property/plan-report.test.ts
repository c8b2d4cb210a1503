import { expect, test } from 'vitest'
import { simulatedOf } from '../../functions/checks/package-report.ts'
import { planLines } from '../../functions/plans/plan.ts'
import { readPlanReport } from '../../functions/plans/plan-report.ts'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import type { Random } from '../soak/random.ts'
import { BRACKETS, type Change, detailsOf, hashLine, mutated, planOutput, simulated } from './simulations.ts'

const LINES = rounds(100_000, 2_000_000)
const OUTPUTS = rounds(2_000, 100_000)
const TEST_MS = 60_000 + LINES / 5 + 10 * OUTPUTS

const seed = seedOf('test/property/plan-report.test.ts', 'whole')

/** Returns the change of a line as text; undefined where the line tells of none. */
function told(line: string): string | undefined {
  const one = simulatedOf(line)
  return one && inOrder(one)
}

const inOrder = ({ name, arch, from, to, action, origin, security }: Change) =>
  JSON.stringify([name, arch, from, to, action, origin, security])

/** Returns the first lines that are read as another change than the one that they were made of. */
function misread(random: Random, count: number, labels?: readonly [string, ...string[]]) {
  const wrong: { line: string; made: string | undefined; read: string | undefined }[] = []
  for (let at = 0; at < count && wrong.length < 3; at++) {
    const { line, change } = simulated(random, at, labels)
    const [made, read] = [change ? inOrder(change) : undefined, told(line)]
    if (made !== read) wrong.push({ line, made, read })
  }
  return wrong
}

const linesOf = (random: Random) =>
  Array.from({ length: random.between(0, 60) }, (_, at) => simulated(random, at)).filter(
    ({ change }) => change !== null || random.chance(0.5),
  )

test('every line of a simulation is read as the change that it was made of', { timeout: TEST_MS }, () => {
  expect(misread(randomOf(seed), LINES)).toEqual([])
})

test('a label with brackets hides neither a change nor its architecture', { timeout: TEST_MS }, () => {
  expect(misread(randomOf(seed + 1), LINES / 20, BRACKETS)).toEqual([])
})

test(`each of ${OUTPUTS} outputs of a plan is read as the changes, sizes and remarks that it was made of`, {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed + 2)
  for (let at = 0; at < OUTPUTS; at++) {
    const lines = linesOf(random)
    const details = detailsOf(
      random,
      lines.flatMap(({ change }) => change ?? []),
    )
    const text = planOutput(lines, 0, details)
    const made = {
      lines: details.changes.map(hashLine).sort(),
      origins: details.changes.map(originOf),
      download_bytes: details.download,
      disk_bytes: details.disk,
      left: details.left,
      isShort: details.isShort,
    }
    const report = await readPlanReport(text)
    const actions = report?.actions ?? []
    const found = (code: string) => report?.findings.filter((finding) => finding.code === code) ?? []
    const read = {
      lines: planLines(actions),
      origins: actions.map(originOf),
      download_bytes: report?.download_bytes,
      disk_bytes: report?.disk_bytes,
      left: found('kept_back_dependencies').flatMap(({ severity, packages }) => (severity === 'info' ? packages : [])),
      isShort: found('disk_low').some(({ severity }) => severity === 'blocking'),
    }
    if (JSON.stringify(read) !== JSON.stringify(made)) expect({ text, ...read }).toEqual({ text, ...made })
  }
})

const originOf = ({ name, origin, security }: Change) => `${name} ${origin} ${security}`

test('an output with one line that no plan can hold is refused, wherever that stands', {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed + 4)
  for (let at = 0; at < OUTPUTS / 10; at++) {
    const lines = linesOf(random)
    const bad = random.pick([
      'Purg old [1.0]',
      'Inst app',
      'Inst app [1.0]',
      'Inst app [1.0] (2.0 D:1/s [all]',
      'Remv',
      'Inst',
    ])
    const place = random.between(0, lines.length)
    const text = planOutput([...lines.slice(0, place), { line: bad, change: null }, ...lines.slice(place)])
    if (await readPlanReport(text)) expect(text).toBe('refused')
  }
})

test('a mutated line or output is never fatal, and is read as clean changes or refused', {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed + 3)
  for (let at = 0; at < LINES / 5; at++) {
    const read = simulatedOf(mutated(random, simulated(random, at).line))
    const texts = read ? [read.name, read.arch, read.from ?? '', read.to ?? '', read.origin ?? ''] : []
    if (texts.some((text) => text.length > 256)) expect(texts).toEqual([])
  }
  const seen = { read: 0, refused: 0 }
  for (let at = 0; at < OUTPUTS; at++) {
    const lines = linesOf(random)
    const details = detailsOf(
      random,
      lines.flatMap(({ change }) => change ?? []),
    )
    const text = mutated(random, planOutput(lines, random.pick([0, 0, 100]), details))
    const report = await readPlanReport(text)
    seen[report ? 'read' : 'refused'] += 1
    const unclear = planLines(report?.actions ?? []).filter((line) => !CLEAN.test(line))
    if (unclear.length > 0) expect({ text, unclear }).toEqual({ text, unclear: [] })
  }

  // Neither the mutations nor the reader may be so strict that the other half is not tried.
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(OUTPUTS / 20)
})

/** A line of the hash that can be read in one way only. */
const CLEAN = /^(upgrade|install|remove|downgrade) [a-z0-9][a-z0-9+.-]+:[a-z0-9-]+ [A-Za-z0-9.+:~-]+ [A-Za-z0-9.+:~-]+$/

/** Each would take minutes if the time grew with the square of the length. */
const LONG = 1_000_000
const many = (piece: string) => piece.repeat(LONG / piece.length)

test.each([
  ['a name', `Inst ${many('a')}`],
  ['names between colons', `Inst ${many('a:')} [1] (2 D:1/s [all])`],
  ['opened brackets', `Inst a${many(' [')}`],
  ['lists that do not end', `Inst a [1] (2 ${many('[a')}`],
  ['lists that end', `Inst a [1] (2 D:1/s [all])${many(' [a ]')}`],
  ['closed architectures', `Inst a [1] (2 ${many(' [all])')}`],
  ['opened parentheses', `Inst a${many(' (')}`],
  ['parentheses and versions', `Inst a${many(' (2 ')}`],
  ['closed parentheses', `Inst a [1] (2 ${many(')')}`],
  ['spaces', `Inst a [1] (2${many(' ')}`],
  ['spaces in a list', `Inst a [1] (2 ${many(' ')}x [all])`],
  ['origins', `Inst a [1] (2 ${many('D:1/s, ')} [all])`],
  ['almost security', `Inst a [1] (2 ${many('-security')}x [all])`],
  ['versions', `Inst a [${many('1~')}] (${many('1+')} D:1/s [all])`],
  ['a version of digits', `Inst a [${many('0')}1] (${many('0')}2 D:1/s [all])`],
  ['an old version that does not end', `Remv a [${many(' [1')}`],
  ['prefixes', many('Inst ')],
])('a hostile line of a million characters is read in linear time: %s', async (_, line) => {
  simulatedOf(line)
  const report = await readPlanReport(planOutput([{ line, change: null }]))

  expect(planLines(report?.actions ?? []).filter((each) => !CLEAN.test(each))).toEqual([])
})

test('a hostile output of very many lines, sections or words is read in linear time', async () => {
  for (const piece of [
    'end\n',
    ' \n',
    'planned\n Inst a [1] (2 D [all])\n',
    ' Inst a\n',
    'manager apt-get\n',
    '\n',
    'x y',
  ]) {
    const text = `manager apt-get\nplanned\n${many(piece)}\n code 0\n\nend\n`
    const actions = (await readPlanReport(text))?.actions ?? []
    expect(planLines(actions).filter((line) => !CLEAN.test(line))).toEqual([])
  }
  const changes = Array.from({ length: 10_001 }, (_, at) => ({ line: `Remv a${at}:i386 [1]`, change: null }))
  expect((await readPlanReport(planOutput(changes.slice(1))))?.actions).toHaveLength(10_000)
  expect(await readPlanReport(planOutput(changes))).toBeUndefined()
})
