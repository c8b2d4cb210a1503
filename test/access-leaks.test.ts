import { expect, test } from 'vitest'
import * as z from 'zod'
import { functions } from '../functions/index.ts'
import { INPUTS, type Input, LISTS } from './access/inputs.ts'
import { type AccessWorld, accessWorld, CALLERS, FOREIGN, OWN } from './access/world.ts'
import { writtenRows } from './access/written-table.ts'

// API tokens that are bound to one target, in the hands of somebody who wants another one: what they read of it, in
// answers and refusals, and what they start there, by any way of naming it.

const BOUND = CALLERS.filter(({ isBound }) => isBound)
const MARK = 'foreign-mark-7c1f'
/** Texts that only the other target has: its name in the container tool's list, and the marks. */
const SIGNS = new RegExp(`${MARK}|"${FOREIGN}"|"vmid":102\\b|"db"`)

/** Marks everything that is stored of the other target. */
async function marked(): Promise<AccessWorld> {
  const world = await accessWorld()
  const one = { arch: 'amd64', from: '1', to: '2', action: 'upgrade', origin: MARK, security: false, size: null }
  const packages = JSON.stringify(
    [MARK, 'curl'].map((name) => ({ name, ...one, source: MARK, cves: [], status: 'planned', reason: MARK })),
  )
  await world.db.script(`
    UPDATE checks SET name = '${MARK}', packages = '${packages}' WHERE target = '${FOREIGN}';
    UPDATE jobs SET status = 'error', error = '${MARK}' WHERE target = '${FOREIGN}';
    UPDATE plans SET made_by = '${MARK}' WHERE target = '${FOREIGN}';
    INSERT INTO job_output (job_id, offset, chunk) SELECT id, 0, CAST('${MARK}' AS BLOB) FROM jobs
      WHERE target = '${FOREIGN}';
    UPDATE jobs SET output_size = ${MARK.length} WHERE target = '${FOREIGN}';
    INSERT INTO snapshots (target, name, made_at, kind, ours, present) VALUES ('${FOREIGN}', '${MARK}', '', 'snapshot', 0, 1);`)
  return world
}

/** Sends a request with a token and returns status, code of a refusal and text. */
async function send(world: AccessWorld, caller: (typeof CALLERS)[number], method: string, path: string, given: Input) {
  const params = Object.entries(given.params ?? {})
  const filled = params.reduce((text, [name, value]) => text.replace(`:${name}`, encodeURIComponent(value)), path)
  const query = given.query ? `?${new URLSearchParams(given.query)}` : ''
  const answer = await world.request(method, filled.replace(/:\w+/g, '1') + query, {
    from: world.address(),
    headers: { authorization: `Bearer ${world.tokenOf(caller)}` },
    body: given.body,
  })
  return { status: answer.status, text: await answer.text() }
}

const Refusal = z.looseObject({ code: z.string() })
const codeOf = ({ status, text }: { status: number; text: string }) =>
  status < 400 ? String(status) : Refusal.parse(JSON.parse(text)).code

test('an unbound token of the same owner reads the marks: they are where answers are made from', async () => {
  const world = await marked()
  const viewer = CALLERS.find(({ name }) => name === 'token of a viewer')
  if (!viewer) throw new Error('there is no such caller')

  for (const [operation, query] of Object.entries(LISTS)) {
    const [method = '', path = ''] = operation.split(' ')
    expect([operation, (await send(world, viewer, method, path + query, {})).text]).toEqual([
      operation,
      expect.stringMatching(SIGNS),
    ])
  }
})

test.each(BOUND.map((caller) => [caller.name, caller] as const))(
  '%s: no operation answers anything of another target',
  async (_, caller) => {
    const world = await marked()
    const seen: string[] = []
    let answered = 0
    for (const { method, path } of functions) {
      const operation = `${method} ${path}`
      const row = writtenRows().find((each) => each.operation === operation)
      const list = LISTS[operation] ?? ''
      const named = [OWN, FOREIGN].map((target) => INPUTS[operation]?.(world.namedBy(caller, target)))
      for (const input of named[0] ? named : [{}, { query: { target: FOREIGN } }]) {
        const answer = await send(world, caller, method, path + (input?.query ? '' : list), input ?? {})
        answered += Number(answer.status < 300)
        expect([operation, answer.status]).not.toEqual([operation, 500])
        // The documents have examples, and refusals of their own input.
        if (row?.role !== 'anybody' && SIGNS.test(answer.text)) seen.push(`${operation}: ${answer.text.slice(0, 300)}`)
      }
    }

    expect(seen).toEqual([])
    // Were everything refused, nothing would be tested.
    expect(answered).toBeGreaterThan(20)
  },
)

/** Other ways to write the foreign target, or more targets than one. */
const SPELLINGS: readonly unknown[] = [
  ...['all', 'host', 'lxc:102', ' lxc:102', 'lxc:102 ', 'LXC:102', 'lxc:0102', 'lxc:+102', 'lxc:102.0', 'lxc:1e2'],
  ...['lxc:0x66', 'lxc:１０２', 'lxc:101,lxc:102', 'lxc:101 lxc:102', 'lxc:101\nlxc:102', 'lxc:101\t', 'lxc:101\u200b'],
  ...['lxc:101/../102', 'lxc:101;pct start 102', 'lxc:-all', 'lxc:*', 'ALL', 'lxc:101\\u0000', '101', 101],
  ...[['lxc:101', 'lxc:102'], [OWN], { toString: 'lxc:101' }, null],
]
const REFUSED = ['target_forbidden', 'target_missing', 'target_invalid', 'invalid_request', 'forbidden', 'not_found']

test.each(['POST /api/updates/checks', 'POST /api/updates/plans', 'POST /api/updates/run'])(
  '%s: no spelling takes a bound token to another target, or to all of them',
  async (operation) => {
    const world = await accessWorld()
    const [method = '', path = ''] = operation.split(' ')
    const count = () => world.db.query(z.object({ count: z.number() }), 'SELECT count(*) AS count FROM jobs')
    const before = await count()

    for (const caller of BOUND)
      for (const target of SPELLINGS) {
        const answer = await send(world, caller, method, path, { body: { target } })
        expect([target, REFUSED.includes(codeOf(answer)), answer.text]).toEqual([target, true, answer.text])
      }

    expect(await count()).toEqual(before)
  },
)

test.each(['102', '0102', '101,102', '101 ', '+101', '101/../102', '0x65', '１０１', '101?vmid=102', '%31%30%32'])(
  'the container %j is not started by a bound token',
  async (vmid) => {
    const world = await accessWorld()

    for (const caller of BOUND) {
      const input = { params: { vmid, action: 'start' } }
      const answer = await send(world, caller, 'POST', '/api/hypervisor/containers/:vmid/:action', input)
      expect(REFUSED).toContain(codeOf(answer))
      const raw = await send(world, caller, 'POST', `/api/hypervisor/containers/${vmid}/start`, {})
      expect(codeOf(raw)).not.toBe('202')
    }
  },
)

test('a run starts nothing where one of its plans is of another target, is unknown, or names nothing', async () => {
  const world = await accessWorld()
  const runs = () => world.db.query(z.object({ count: z.number() }), 'SELECT count(*) AS count FROM jobs')
  const before = await runs()
  for (const caller of BOUND.filter(({ role }) => role !== 'viewer')) {
    const [own, foreign] = [world.namedBy(caller, OWN).plan, world.namedBy(caller, FOREIGN).plan]
    for (const plans of [[foreign], [own, foreign], [foreign, own], [own, own, foreign], [own, 'f'.repeat(24)]]) {
      const answer = await send(world, caller, 'POST', '/api/updates/runs', { body: { plans } })
      expect([plans, codeOf(answer)]).toEqual([plans, 'target_forbidden'])
    }
    // The target in the body is the token's own; the plan is not.
    const body = { target: OWN, plan: foreign }
    expect(codeOf(await send(world, caller, 'POST', '/api/updates/run', { body }))).toBe('plan_of_another_target')
  }

  expect(await runs()).toEqual(before)
})
