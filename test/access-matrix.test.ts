import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { functions, sockets } from '../functions/index.ts'
import { currentTable, writtenTable } from '../packaging/access-table.ts'
import type { AnyFunction } from '../runtime/function.ts'
import type { AnySocket } from '../runtime/socket.ts'
import { INPUTS, type Input, LISTS, OF_HOST } from './access/inputs.ts'
import { type AccessWorld, accessWorld, CALLERS, FOREIGN, OWN } from './access/world.ts'
import { type Caller, promised, REFUSALS, type Row, writtenRows } from './access/written-table.ts'
import { answered } from './functions/answers.ts'
import { listening } from './serve/listening.ts'

// Every operation, as every kind of caller, for a target that bounded callers have and for another one. The expected
// answers are computed from the table of docs/access.md, not from the declarations.

const rows = new Map(writtenRows().map((row) => [row.operation, row]))
const endpoints = functions.map((fn) => [`${fn.method} ${fn.path}`, fn] as const)
const CASES: readonly (Caller | undefined)[] = [undefined, ...CALLERS]

test('docs/access.md has the table of the declarations (npm run docs:access writes it)', () => {
  expect(writtenTable()).toBe(currentTable())
})

test('there is an input for each operation that names its targets, a list for each that filters, and no other', () => {
  const of = (targets: Row['targets']) => [...rows.values()].filter((row) => row.targets === targets)
  const names = (list: readonly Row[]) => list.map(({ operation }) => operation).sort()

  expect(Object.keys(INPUTS).sort()).toEqual(names(of('named')))
  expect(Object.keys(LISTS).sort()).toEqual(names(of('filtered')))
})

const rowOf = (operation: string): Row => {
  const row = rows.get(operation)
  if (!row) throw new Error(`${operation} is not in docs/access.md`)
  return row
}

/** The targets that the requests of an operation name, one after another. */
const targetsOf = ({ operation, targets }: Row) =>
  targets !== 'named' ? [OWN] : OF_HOST.includes(operation) ? ['host'] : [OWN, FOREIGN]

function addressOf(path: string, { params = {}, query }: Input): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? '1'))
  return query ? `${filled}?${new URLSearchParams(query)}` : filled
}

const Refused = z.object({ code: z.string().optional() })

/** Sends the request and returns the code of the refusal; undefined when the caller has access. */
async function ask(world: AccessWorld, fn: AnyFunction, caller: Caller | undefined, input: Input) {
  const token = caller && world.tokenOf(caller)
  const response = await world.request(fn.method, addressOf(fn.path, input), {
    from: world.address(),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: input.body,
  })
  const text = await response.text()
  const { code } = response.status < 400 ? { code: undefined } : Refused.parse(JSON.parse(text))
  // A limit or a fault would hide what is tested.
  expect([response.status, code]).not.toEqual([429, 'rate_limited'])
  expect(response.status).not.toBe(500)
  return code !== undefined && REFUSALS.includes(code) ? code : undefined
}

/** Asks as every caller, and returns what happened beside what docs/access.md promises. */
async function outcomes(world: AccessWorld, operation: string, fn: AnyFunction) {
  const row = rowOf(operation)
  const found: string[] = []
  const expected: string[] = []
  for (const caller of CASES)
    for (const target of targetsOf(row)) {
      const input = INPUTS[operation]?.(world.namedBy(caller, target)) ?? {}
      const title = `${caller?.name ?? 'nobody'}, ${target}: `
      found.push(title + (await ask(world, fn, caller, input)))
      expected.push(title + promised(row, caller, target === OWN))
    }
  return { found, expected }
}

test.each(endpoints)('%s: every caller is admitted or refused as docs/access.md says', async (operation, fn) => {
  const { found, expected } = await outcomes(await accessWorld(), operation, fn)

  expect(found).toEqual(expected)
})

test.each([
  ['its role', 'POST /api/updates/plans', { auth: 'user' as const }],
  ['its targets', 'POST /api/updates/plans', { targets: 'none' as const }],
  ['its proof', 'PUT /api/updates/holds', { stepUp: undefined, credential: 'session' as const }],
  ['sessions alone', 'GET /api/auth/preferences', { credential: undefined }],
  ['who must enrol', 'GET /api/updates/checks', { whileEnrolling: true as const }],
])('the matrix sees a declaration that loses %s', async (_, operation, { ...change }) => {
  const fn = endpoints.find(([name]) => name === operation)?.[1]
  if (!fn) throw new Error(`${operation} is gone`)
  const { stepUp, credential, ...rest } = fn
  const weaker: AnyFunction = {
    ...rest,
    ...('stepUp' in change || stepUp === undefined ? {} : { stepUp }),
    ...('credential' in change || credential === undefined ? {} : { credential }),
    ...JSON.parse(JSON.stringify(change)),
  }
  const world = await accessWorld(functions.map((each) => (each === fn ? weaker : each)))

  const { found, expected } = await outcomes(world, operation, weaker)

  expect(found).not.toEqual(expected)
})

/** Opens the socket and returns the word of the refusal; undefined when it opens for the caller. */
async function open(url: string, world: AccessWorld, socket: AnySocket, caller: Caller | undefined, input: Input) {
  const token = caller && world.tokenOf(caller)
  const protocols = ['panel.v1', ...(token === undefined ? [] : [`bearer.${token}`])]
  const headers = { 'x-forwarded-for': world.address() }
  const ws = new WebSocket(url.replace('http', 'ws') + addressOf(socket.path, input), protocols, { headers })
  onTestFinished(() => ws.terminate())
  const frame = once(ws, 'message').then(() => ({ code: 0, reason: '' }))
  const end = once(ws, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }))
  const { code, reason } = await Promise.race([frame, end])
  ws.close()
  // The deployment does not exist, the jobs have ended, and the host has no terminal.
  expect([0, 1000, 4401, 4403, 4404]).toContain(code)
  return code === 4401 ? 'unauthenticated' : code === 4403 ? reason || 'forbidden' : undefined
}

test.each(sockets.map((socket) => [`GET ${socket.path}`, socket] as const))(
  '%s: every caller is admitted or refused as docs/access.md says',
  async (operation, socket) => {
    const row = rowOf(operation)
    const world = await accessWorld()
    const { url } = await listening(world.services, { sockets: [socket] })
    const found: string[] = []
    const expected: string[] = []
    for (const caller of CASES)
      for (const target of targetsOf(row)) {
        const input = INPUTS[operation]?.(world.namedBy(caller, target)) ?? {}
        const title = `${caller?.name ?? 'nobody'}, ${target}: `
        found.push(title + (await open(url, world, socket, caller, input)))
        expected.push(title + promised(row, caller, target === OWN))
      }

    expect(found).toEqual(expected)
  },
)

test.each(Object.entries(LISTS))(
  '%s leaves out what a bound token may not see, and nothing else',
  async (operation, query) => {
    const world = await accessWorld()
    const [method = '', path = ''] = operation.split(' ')
    const targetsSeen = async (caller: Caller | undefined) => {
      const authorization = `Bearer ${caller && world.tokenOf(caller)}`
      const answer = await world.request(method, path + query, { headers: { authorization } })
      const text = JSON.stringify(await answered(answer, 200))
      return ['101', '102'].filter((vmid) => new RegExp(`"lxc:${vmid}"|"vmid":${vmid}\\b`).test(text))
    }

    for (const caller of CALLERS.filter(({ isEnrolling }) => !isEnrolling))
      expect([caller.name, await targetsSeen(caller)]).toEqual([caller.name, caller.isBound ? ['101'] : ['101', '102']])
  },
)
