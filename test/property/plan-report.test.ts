import { expect, test } from 'vitest'
import { simulatedOf } from '../../functions/checks/package-report.ts'
import { planLines } from '../../functions/plans/plan.ts'
import { readPlanReport } from '../../functions/plans/plan-report.ts'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import type { Random } from '../soak/random.ts'
import { BRACKETS, type Change, hashLine, mutated, planOutput, simulated } from './simulations.ts'

const LINES = rounds(100_000, 2_000_000)
const OUTPUTS = rounds(1_000, 20_000)
const TEST_MS = 30_000 + LINES / 5

const seed = seedOf('test/property/plan-report.test.ts')

/** Returns the change of a line as text; undefined where the line tells of none. `Purg` is read as by a plan. */
function told(line: string): string | undefined {
  const one = simulatedOf(line.replace(/^Purg /, 'Remv '))
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

test('every output of a plan is read as the changes that it was made of', { timeout: TEST_MS }, async () => {
  const random = randomOf(seed + 2)
  for (let at = 0; at < OUTPUTS; at++) {
    const lines = linesOf(random)
    const text = planOutput(lines)
    const made = lines.flatMap(({ change }) => change ?? [])
    const actions = (await readPlanReport(text))?.actions ?? []
    const isSame = JSON.stringify(planLines(actions)) === JSON.stringify(made.map(hashLine).sort())
    const origins = actions.map(({ name, origin, security }) => `${name} ${origin} ${security}`)
    const isFromThere = origins.join('\n') === made.map((one) => `${one.name} ${one.origin} ${one.security}`).join('\n')
    if (isSame && isFromThere) continue
    expect({ text, lines: planLines(actions), origins }).toEqual({ text, lines: made.map(hashLine).sort(), origins })
    expect(origins).toEqual(made.map(({ name, origin, security }) => `${name} ${origin} ${security}`))
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
    const text = mutated(random, planOutput(linesOf(random), random.pick([0, 0, 100])))
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
