import { expect, test } from 'vitest'
import { COMPARE, MOST_COMPARED } from '../../../functions/plans/conffile-scripts.ts'
import { plannedCommand } from '../../../functions/plans/plan-command.ts'
import { START } from '../../../jobs/script.ts'
import { answered, audited, refused } from '../answers.ts'
import { CONFLICT, PATH, planned, stored } from './changed-files.ts'
import { HASH, HOUR, SELECTION } from './plan-host.ts'

test('an administrator alone chooses, and nobody without a token does anything', async () => {
  const all = await planned([stored('/etc/a', CONFLICT)])
  const body = { choices: [{ file: '/etc/a', choice: 'take' }] }

  await refused(await all.request('PUT', body, 'user'), 403, 'forbidden')
  await refused(await all.app.request('PUT', PATH, { body }), 401, 'unauthenticated')
  await refused(await all.app.request('POST', PATH, { body: {} }), 401, 'unauthenticated')

  expect(await all.choices()).toEqual(['keep /etc/a'])
  expect(all.app.ran).toEqual([])
  expect(await audited(all.app.db)).toEqual([])
})

test('a choice is stored with its audit entry; files that it does not name keep theirs', async () => {
  const all = await planned(['a', 'b', 'c'].map((name) => stored(`/etc/${name}`, CONFLICT)))

  await answered(await all.choose(['/etc/a', 'take'], ['/etc/b', 'take']), 200)
  await answered(await all.choose(['/etc/a', 'keep'], ['/etc/c', 'take']), 200)
  await answered(await all.choose(['/etc/c', 'take']), 200)

  expect(await all.choices()).toEqual(['keep /etc/a', 'take /etc/b', 'take /etc/c'])
  const entry = (take: string) => ({
    action: 'plan_choice',
    username: 'alice',
    target: 'lxc:101',
    details: { plan: 'p', take, count: 2 },
  })
  expect(await audited(all.app.db)).toMatchObject([entry('/etc/a /etc/b'), entry('/etc/b /etc/c')])
})

test('a choice without its audit entry is not stored', async () => {
  const all = await planned([stored('/etc/a', CONFLICT)])
  await all.app.db.run(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)

  const { status } = await all.choose(['/etc/a', 'take'])

  expect(status).toBeGreaterThanOrEqual(500)
  expect(await all.choices()).toEqual(['keep /etc/a'])
})

test.each(['changed', 'same', 'unavailable'])('a file that is %s can be kept, not taken', async (state) => {
  const all = await planned([stored('/etc/a', { state }), stored('/etc/b', CONFLICT)])

  await refused(await all.choose(['/etc/b', 'take'], ['/etc/a', 'take']), 422, 'conffile_unknown')
  await answered(await all.choose(['/etc/a', 'keep']), 200)

  expect(await all.choices()).toEqual(['keep /etc/a', 'keep /etc/b'])
  expect(await audited(all.app.db)).toEqual([])
})

test('a file that the plan does not have is neither kept nor taken, and the names of an audit entry are few', async () => {
  const files = Array.from({ length: MOST_COMPARED }, (_, n) => `/etc/${n}`)
  const all = await planned(files.map((file) => stored(file, CONFLICT)))
  const taken = files.map((file): [string, string] => [file, 'take'])

  for (const choice of ['keep', 'take']) {
    await refused(await all.choose(['/etc/0', 'take'], ['/etc/none', choice]), 422, 'conffile_unknown')
    await refused(await all.choose(['/etc/0/../0', choice]), 422, 'conffile_unknown')
  }
  for (const body of [
    {},
    { choices: [] },
    { choices: [{ file: '/etc/0' }] },
    { choices: [{ file: '/etc/0', choice: 'x' }] },
  ])
    await refused(await all.request('PUT', body), 400, 'invalid_request')
  await refused(await all.choose(...taken, ['/etc/0', 'keep']), 400, 'invalid_request')
  expect(await audited(all.app.db)).toEqual([])
  await answered(await all.choose(...taken), 200)

  const names = files.slice(0, 10).join(' ')
  expect(await audited(all.app.db)).toMatchObject([{ details: { take: names, count: MOST_COMPARED } }])
})

test('a plan that is used, expired or missing is neither compared nor chosen in', async () => {
  const used = await planned([stored('/etc/a', CONFLICT)])
  await used.ended(await used.start({ target: 'lxc:101', plan: 'p' }))
  const expired = await planned([stored('/etc/a', CONFLICT)])
  expired.app.advance(HOUR)
  const missing = await planned([])
  await missing.app.db.run('DELETE FROM plans')

  for (const [all, status, code] of [
    [used, 409, 'plan_used'],
    [expired, 410, 'plan_expired'],
    [missing, 404, 'plan_missing'],
  ] as const) {
    await refused(await all.request('POST', {}), status, code)
    await refused(await all.choose(['/etc/a', 'take']), status, code)
    expect(all.app.ran.filter(({ command }) => command.includes(COMPARE))).toEqual([])
  }
})

/** Lets each change of the files of a plan wait until so many have come, so that each has read the same plan. */
function together({ app: { db } }: Awaited<ReturnType<typeof planned>>, count: number): void {
  const { batch } = db
  const waiting: (() => void)[] = []
  db.batch = async (statements) => {
    if (statements.some(({ sql }) => sql.includes('UPDATE plans SET conffiles'))) {
      const all = new Promise<void>((resolve) => waiting.push(resolve))
      if (waiting.length === count) for (const go of waiting) go()
      await all
    }
    return batch(statements)
  }
}

test('of several choices at the same moment one is stored, with its audit entry', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const all = await planned(names.map((name) => stored(`/etc/${name}`, CONFLICT)))
  together(all, names.length)

  const answers = await Promise.all(names.map((name) => all.choose([`/etc/${name}`, 'take'])))

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  const lost = answers.filter(({ status }) => status === 409)
  for (const answer of lost) await refused(answer, 409, 'conffiles_changed')
  const taken = (await all.choices()).filter((one) => one.startsWith('take'))
  expect(taken).toHaveLength(1)
  expect(await audited(all.app.db)).toMatchObject([{ details: { take: taken[0]?.slice(5), count: 1 } }])
})

test('the run of a plan takes the chosen files, and no others', async () => {
  const all = await planned(['a', 'b', 'é f'].map((name) => stored(`/etc/${name}`, CONFLICT)))
  await answered(await all.choose(['/etc/a', 'take'], ['/etc/é f', 'take']), 200)

  await all.ended(await all.start({ target: 'lxc:101', plan: 'p' }))

  const take = ['/etc/a', '/etc/é f']
  const command = plannedCommand('101', { hash: HASH, take, selection: SELECTION }, 'root')
  const launched = all.app.ran.find(({ command: [, , text] }) => text === START)?.command
  expect(launched?.slice(-command.length)).toEqual(command)
  expect(Buffer.from(command.at(-4) ?? '', 'base64').toString()).toBe('/etc/a\n/etc/é f\n')
})
