import { expect, test } from 'vitest'
import { dnfWith, TABLE } from './dnf-stand-in.ts'

/* A question that dnf or rpm does not answer: the target is not told to be well. */

test('the words of a repository do not make a failed answer an empty upgrade', async () => {
  const { ask, write } = await dnfWith(5)
  await write('messages', 'Nothing to do.                    100% | 0.0   B/s\n')
  await write('answer.table', 'Failed to resolve the transaction:\nProblem: the upgrade would remove sudo\n')

  const { lines } = await ask('dnf_changes all keep every')

  expect(lines[0]).toMatch(/^problem\t/)
  expect(lines.at(-1)).toBe('code\t1')
})

test.each(['advisory', 'seen', 'every'])(
  'where dnf5 does not answer about %s, what is left is not told',
  async (key) => {
    const { ask, write } = await dnfWith(5)
    await write('answer.table', 'Nothing to do.\n')
    await write(`code.${key}`, '1')

    expect((await ask('dnf_left')).lines.at(-1)).not.toBe('code\t0')
  },
)

test('changes are not told without the marks of security updates', async () => {
  const { ask, write } = await dnfWith(5)
  await write('answer.table', TABLE)
  await write('code.advisory', '1')

  expect((await ask('dnf_changes all keep every')).lines).toContain('change')
})

test.each<[version: 4 | 5, key: string]>([
  [4, 'va'],
  [5, 'va'],
  [5, 'check'],
])('a verification of dnf %s that has ended by time is no healthy one: %s', async (version, key) => {
  const { ask, write } = await dnfWith(version)
  await write('answer.verify', 'code\t0\n')
  await write(`code.${key}`, '124')

  expect((await ask('dnf_verify')).lines).toEqual(['code\t124'])
})
