import { expect, test } from 'vitest'
import * as z from 'zod'
import { HOLD, UNHOLD } from '../../../functions/checks/remedy-scripts.ts'
import history from '../../../functions/jobs/history.get.ts'
import holds from '../../../functions/plans/holds.put.ts'
import { START } from '../../../jobs/script.ts'
import type { Elevation } from '../../../ssh/command.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { jobHost } from '../jobs/job-host.ts'

const PATH = '/api/updates/holds'

async function asked(body: object, { elevation = 'root' }: { elevation?: Elevation } = {}) {
  const app = await testApp([holds, history], { fake: { ...jobHost({}), elevation } })
  const answer = await app.request('PUT', PATH, { as: 'admin', body })
  return { app, answer }
}

test.each([
  [true, 'hold', HOLD],
  [false, 'unhold', UNHOLD],
] as const)('held %j starts the script %s, under every elevation', async (held, verb, text) => {
  const own = ['sh', '-c', text, `ops-panel-${verb}`, '', 'app', 'lib:i386']
  for (const [elevation, target, expected] of [
    ['root', 'host', own],
    ['rule', 'lxc:101', ['sudo', '-n', '/usr/sbin/pct', 'exec', '101', '--', ...own]],
    ['helper', 'lxc:101', ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', verb, '101', 'app', 'lib:i386']],
  ] as const) {
    const { app, answer } = await asked({ target, packages: ['app', 'lib:i386', 'app'], held }, { elevation })

    const { job_id } = z.object({ job_id: z.string(), message: z.string() }).parse(await answered(answer, 202))
    const launched = () => app.ran.find(({ command: [, , script] }) => script === START)
    await expect.poll(launched).toBeDefined()
    expect(launched()?.command.slice(8)).toEqual(expected)
    expect(await rows(app.db, 'SELECT id, kind, target FROM jobs')).toEqual([{ id: job_id, kind: 'remedy', target }])
    const change = { held_before: null, held_after: held ? '["app","lib:i386"]' : '[]' }
    const details = { job_id, action: verb, packages: 'app lib:i386', count: 2, ...change }
    expect(await audited(app.db)).toMatchObject([{ action: 'remedy_start', target, details }])
  }
})

test.each([
  [true, '["lib:i386"]', '["app","lib:i386"]'],
  [false, '["lib:i386"]', '[]'],
])('the audit log has what the last check found held before held %j', async (held, held_before, held_after) => {
  const app = await testApp([holds], { fake: jobHost({}) })
  const findings = [
    { code: 'held', packages: ['lib:i386', 'application', 'other'] },
    { code: 'phased', packages: ['app'] },
  ]
  await app.db.run("INSERT INTO checks (target, name, status, summary) VALUES ('host', '', 'running', ?)", [
    JSON.stringify({ findings }),
  ])
  const body = { target: 'host', packages: ['app', 'lib:i386'], held }

  await answered(await app.request('PUT', PATH, { as: 'admin', body }), 202)

  expect(await audited(app.db)).toMatchObject([{ action: 'remedy_start', details: { held_before, held_after } }])
})

test.each([
  [{ target: 'all', packages: ['app'], held: true }, 'target_invalid'],
  [{ target: 'host', packages: [], held: true }, 'invalid_request'],
  [{ target: 'host', packages: ['a;b'], held: true }, 'invalid_request'],
  [{ target: 'host', packages: ['--all'], held: true }, 'invalid_request'],
  [{ target: 'host', packages: ['app'] }, 'invalid_request'],
])('%j is refused, and nothing starts', async (body, code) => {
  const { app, answer } = await asked(body)

  await refused(answer, 400, code)

  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
})
