import { expect, test, vi } from 'vitest'
import { enableModule } from '../../db/modules.ts'
import { unguarded } from '../../modules/guard/guard.ts'
import { tasksOf } from '../../modules/kit/kit.ts'
import { runTasks, startTasks } from '../../runtime/task.ts'
import { rows } from '../functions/answers.ts'
import { appWithModules } from './kit-app.ts'

/** A module whose task counts its runs in the store. */
const counting = (run = '') => `
export default ({ defineTask }) => [
  defineTask({
    name: 'count',
    every: 60,
    async run({ store, signal, moduleSettings, host }) {
      await store.set('runs', ((await store.get('runs')) ?? 0) + 1)
      ${run}
    },
  }),
]
`

type App = Awaited<ReturnType<typeof appWithModules>>

const run = ({ services }: App) => runTasks(services.modules.tasks, services)
const runsOf = async ({ db }: App) =>
  (await rows(db, `SELECT value FROM module_values WHERE name = 'value:runs'`)).map(({ value }) => value)
/** Makes every turn end now. */
const passed = ({ db }: App) =>
  db.run(`UPDATE module_values SET value = json_set(value, '$.until', 0) WHERE name LIKE 'turn:%'`)

test('a task runs when it is due, and not before', async () => {
  const app = await appWithModules({ counter: counting() })

  await run(app)
  await run(app)
  expect(await runsOf(app)).toEqual(['1'])
  await passed(app)
  await run(app)
  expect(await runsOf(app)).toEqual(['2'])
})

test('the next turn begins one interval after the start of this one', async () => {
  const app = await appWithModules({ counter: counting() })

  await run(app)
  const [turn] = await rows(
    app.db,
    `SELECT json_extract(value, '$.until') - unixepoch('subsec') * 1000 AS ms FROM module_values WHERE name = 'turn:count'`,
  )
  expect(turn?.ms).toBeGreaterThan(30_000)
  expect(turn?.ms).toBeLessThanOrEqual(60_000)
})

test('of two instances, one runs the task', async () => {
  const app = await appWithModules({ counter: counting() })
  const { tasks } = (await appWithModules({ counter: counting() })).services.modules

  await Promise.all([runTasks(tasks, app.services), run(app)])
  expect(await runsOf(app)).toEqual(['1'])
})

test('a task does nothing while its module is disabled or has a fault', async () => {
  const app = await appWithModules({ counter: counting() })

  await app.db.batch([enableModule('counter', false, '')])
  await run(app)
  await app.db.batch([enableModule('counter', true, '')])
  await app.db.run(`UPDATE modules SET fault = 'x' WHERE id = 'counter'`)
  await run(app)
  expect(await runsOf(app)).toEqual([])
  await app.db.run('UPDATE modules SET fault = NULL')
  await run(app)
  expect(await runsOf(app)).toEqual(['1'])
})

test('a task that throws is logged with its module, and runs again at its next turn', async () => {
  const app = await appWithModules({ counter: counting(`throw new Error('no luck')`) })

  await run(app)
  const line = app.lines().find((each) => each.includes('a task of a module failed'))
  expect(line).toContain('"module":"counter"')
  expect(line).toContain('no luck')
  await passed(app)
  await run(app)
  expect(await runsOf(app)).toEqual(['2'])
})

test('a task that never ends is cut off after ten minutes, and is not started a second time meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const app = await appWithModules({ counter: counting('await new Promise(() => {})') })
  try {
    const running = run(app)
    await vi.waitFor(async () => expect(await runsOf(app)).toEqual(['1']), { interval: 1 })
    await passed(app)
    await run(app)
    expect(await runsOf(app)).toEqual(['1'])
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    await running
    expect(app.lines().join()).toContain('it took longer than 600 s')
    await passed(app)
    await run(app)
    expect(await runsOf(app)).toEqual(['1'])
  } finally {
    vi.useRealTimers()
  }
})

test('the end of the service aborts a run, which begins again soon', async () => {
  const wait = `await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))`
  const app = await appWithModules({ counter: counting(wait) })
  const background = startTasks(app.services.modules.tasks, app.services)
  try {
    await vi.waitFor(async () => expect(await runsOf(app)).toEqual(['1']), { timeout: 5_000 })
  } finally {
    app.services.modules.endTasks()
    await background.stop()
  }
  expect(app.lines().join()).not.toContain('a task of a module failed')
  await run(app)
  expect(await runsOf(app)).toEqual(['1'])
})

test.each([
  [`name: 'a', every: 59, run() {}`, '« every » est trop petit (60 s au moins)'],
  [`name: 'a', every: 60.5, run() {}`, '« every » est invalide'],
  [`name: 'a', run() {}`, '« every » manque'],
  [`name: 'A b', every: 60, run() {}`, '« name » est invalide'],
  [`name: 'a', every: 60, run: 1`, '« run » est invalide (attendu : une fonction)'],
  [`name: 'a', every: 60, run() {}, at: 1`, 'a des champs inconnus : at'],
])('a task with %s is refused', async (fields, fault) => {
  const bad = `export default ({ defineTask }) => [defineTask({ ${fields} })]`
  const app = await appWithModules({ bad })

  expect(app.services.modules.problem('bad')?.detail).toContain(`déclaration 1 (tâche) : ${fault}`)
})

test('two tasks of one name are refused', async () => {
  const one = `defineTask({ name: 'a', every: 60, run() {} })`
  const app = await appWithModules({ bad: `export default ({ defineTask }) => [${one}, ${one}]` })

  expect(app.services.modules.problem('bad')?.detail).toBe('déclaration 2 (tâche) : une tâche s’appelle déjà a')
})

test('the guard sees the synchronous part of a task as code of its module', async () => {
  const seen: string[] = []
  const within = <result>(id: string, work: () => result): result => {
    seen.push(`begin ${id}`)
    try {
      return work()
    } finally {
      seen.push(`end ${id}`)
    }
  }
  const run = () => void seen.push('run')
  const parts = new Map([['probe', { settings: undefined, tasks: [{ name: 'a', every: 60, run }] }]])
  const { services, db } = await appWithModules({ probe: 'export default () => []' })

  await runTasks(tasksOf(parts, new AbortController().signal, { ...unguarded, within }), services)
  expect(await rows(db, `SELECT 1 AS one FROM module_values WHERE name = 'turn:a'`)).toEqual([{ one: 1 }])
  expect(seen).toEqual(['begin probe', 'run', 'end probe'])
})
