import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { fleet } from '../demo/fleet.ts'
import { type DemoHost, type DemoHostOptions, startDemoHost } from '../demo/host.ts'
import { container, type Place } from '../demo/place.ts'
import { INSPECTION, INSPECTION_BYTES } from '../functions/checks/check-script.ts'
import { startChild } from './child.ts'
import { followJob } from './follow.ts'
import { read, requestsPerSecond, sameAnswer } from './http.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row, short } from './table.ts'

const FEW = 20
const MANY = 200
/** The time that each `pct exec` of the row of many containers takes. */
const DELAY_MS = 300
/** Enough users to keep each far below the limit of 1,200 reads a minute. */
const USERS = 1_000

/**
 * Measures a check of all targets against that of one, the list of stored checks against the same bytes by bare
 * node:http, and the delay of other answers while a large check is read and stored. The hosts are imitated.
 */
export async function checks(): Promise<Row[]> {
  return [await ofAll(), await list(), await large()]
}

/** Runs a function with a service whose host has these containers. */
async function withHost<result>(
  options: DemoHostOptions,
  work: (panel: Panel, host: DemoHost) => Promise<result>,
  users = 1,
): Promise<result> {
  const host = await startDemoHost({ lineMs: 0, ...options })
  try {
    const panel = await startPanel({ users, host: { address: `127.0.0.1:${host.port}`, ...host.service } })
    try {
      return await work(panel, host)
    } finally {
      await panel.stop()
    }
  } finally {
    await host.close()
  }
}

const Started = z.object({ job_id: z.string() })
const Checks = z.object({ checks: z.array(z.object({ target: z.string(), state: z.string() })) })

/** Checks a target to its end; returns the milliseconds. */
async function checkOf({ url, tokens: [token = ''] }: Panel, target: string): Promise<number> {
  const began = performance.now()
  const response = await fetch(`${url}/api/updates/checks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target }),
  })
  if (response.status !== 202) throw new Error(`the check was refused: ${await response.text()}`)
  await followJob({ url, token }, Started.parse(await response.json()).job_id)
  return performance.now() - began
}

/** Returns the states of all targets; throws unless the list has so many. */
async function statesOf({ url, tokens: [token = ''] }: Panel, targets: number): Promise<Map<string, string>> {
  const { checks: all } = Checks.parse((await read(`${url}/api/updates/checks`, token)).body)
  if (all.length !== targets) throw new Error(`${all.length} checks instead of ${targets}`)
  return new Map(all.map(({ target, state }) => [target, state]))
}

/** Returns so many running containers, with the packages and obstacles of the fleet's. */
function containers(count: number): Place[] {
  const models = fleet().filter(({ running }) => running)
  return Array.from({ length: count }, (_, n) => ({
    ...models[n % models.length],
    ...container(`${101 + n}`, `ct-${n}`, { upgradable: models[n % models.length]?.upgradable ?? [] }),
  }))
}

function ofAll(): Promise<Row> {
  return withHost({ containers: containers(FEW), delayMs: DELAY_MS }, async (panel) => {
    const times = await measure(
      { warmUp: 1, rounds: 5 },
      { one: () => checkOf(panel, 'lxc:101'), all: () => checkOf(panel, 'all') },
    )
    const states = await statesOf(panel, FEW + 1)
    if ([...states.values()].includes('unknown')) throw new Error('a target was not checked')
    return compare(`a check of ${FEW} containers / of one`, { atMost: 4 }, 'ms', times('all'), times('one'))
  })
}

function list(): Promise<Row> {
  const measured = async (panel: Panel) => {
    await checkOf(panel, 'all')
    await statesOf(panel, MANY + 1)
    const bare = await startChild('./bare-http.ts')
    const tokenFile = join(tmpdir(), `ops-panel-bench-check-tokens-${process.pid}`)
    try {
      await writeFile(tokenFile, panel.tokens.join('\n'), { mode: 0o600 })
      const [token = ''] = panel.tokens
      const path = '/api/updates/checks'
      const sample = await read(`${panel.url}${path}`, token)
      const { url: bareUrl } = await bare.ask(z.object({ url: z.string() }), { ...sample, isPrepared: true })
      sameAnswer(sample, await read(`${bareUrl}${path}`, token))
      const load = (url: string) => () => requestsPerSecond(`${url}${path}`, tokenFile)
      const rates = await measure({ warmUp: 1, rounds: 7 }, { bare: load(bareUrl), ours: load(panel.url) })
      return compare(
        `the checks of ${MANY} containers / bare node:http`,
        { atLeast: 0.25 },
        'req/s',
        rates('ours'),
        rates('bare'),
      )
    } finally {
      await rm(tokenFile, { force: true })
      await bare.stop()
    }
  }
  return withHost({ containers: containers(MANY) }, measured, USERS)
}

const Stall = z.object({ stall: z.number(), collection: z.number(), database: z.number() })

/** More than a check admits. */
const REFUSED = 100_000
/** Almost as many as a check admits. */
const ADMITTED = 9_990

/** An inspection of a target with so many upgradable packages; each name is so long. */
function inspectionOf(packages: number, nameLength: number): string {
  const names = Array.from({ length: packages }, (_, n) => `p${n}`.padEnd(nameLength, 'x'))
  const section = (name: string, lines: readonly string[]) => `${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`
  return [
    section('os', ['ID=debian', 'VERSION_ID="12"', 'VERSION_CODENAME=bookworm']),
    'manager apt-get\n',
    section('update', ['code 0']),
    section('lists', ['3']),
    section('check', ['code 0']),
    section('planned', [...names.map((name) => `Inst ${name} [1] (2 D:12/s [all])`), 'code 0']),
    section('upgradable', ['Listing...', 'code 0']),
    section(
      'offered',
      names.map((name) => `${name} all 2 1000 `),
    ),
    section(
      'installed',
      names.map((name) => `${name} all ${name} 1`),
    ),
    'end\n',
  ].join('')
}

/** Lengths of names with which each inspection has almost the most bytes that a target may print. */
const SHORT_NAME = 6
const LONG_NAME = 86

function large(): Promise<Row> {
  const outputs = new Map([
    ['101', inspectionOf(REFUSED, SHORT_NAME).slice(0, INSPECTION_BYTES - 1)],
    ['102', inspectionOf(ADMITTED, LONG_NAME)],
  ])
  for (const [id, text] of outputs)
    if (text.length > INSPECTION_BYTES || text.length < 0.9 * INSPECTION_BYTES)
      throw new Error(`the inspection of ${id} has ${text.length} bytes`)
  const places = [...outputs.keys()].map((id) => container(id, `ct-${id}`))
  return withHost({ containers: places }, async (panel, host) => {
    host.override = (words, { place, stdout }) => {
      const text = words.includes(INSPECTION) && words[0] === 'sh' ? outputs.get(place.id) : undefined
      return text === undefined ? undefined : stdout(text).then(() => 0)
    }
    const client = await startChild('./health-client.ts')
    const idle = await startChild('./idle-loop.ts')
    try {
      const delays: number[] = []
      const idleStalls: number[] = []
      const stalls: z.infer<typeof Stall>[] = []
      await checkOf(panel, 'all')
      for (let round = 0; round < 7; round++) {
        await client.ask(z.number(), { url: panel.url })
        await panel.child.ask(Stall, { what: 'stall' })
        await idle.ask(z.number())
        await checkOf(panel, 'all')
        delays.push(await client.ask(z.number(), { url: panel.url }))
        idleStalls.push(await idle.ask(z.number()))
        stalls.push(await panel.child.ask(Stall, { what: 'stall' }))
      }
      const states = await statesOf(panel, places.length + 1)
      if (states.get('lxc:101') !== 'unknown' || states.get('lxc:102') !== 'ready')
        throw new Error(`the wrong check was stored: ${JSON.stringify([...states])}`)
      const worst = Math.max(...delays)
      const causes = stalls[delays.indexOf(worst)] ?? { stall: 0, collection: 0, database: 0 }
      const idleStall = Math.max(...idleStalls)
      return {
        name: `a check of ${REFUSED} packages: the longest delay of an answer, less that of an idle loop`,
        goal: { atMost: 50 },
        ours: `${short(worst)} ms (in that round a stall of ${short(causes.stall)}, a collection of ${short(causes.collection)}, a call of the database of ${short(causes.database)})`,
        anchor: `${short(idleStall)} ms`,
        result: worst - idleStall,
        unit: 'ms',
        rounds: delays.length,
      }
    } finally {
      await idle.stop()
      await client.stop()
    }
  })
}
