import type { Agent } from 'node:http'
import fc from 'fast-check'
import { type Ask, type BrokenAsk, brokenAsks, validAsk } from './asks.ts'
import { shown } from './broken-values.ts'
import { bodyOf, type OpenApi, type Operation, responseOf } from './openapi.ts'
import { componentsIn, createPool } from './pool.ts'
import { createSending, type Given, type Sent } from './sending.ts'
import { createVerdict, json } from './verdict.ts'

export interface Reached {
  /** How often a right request was answered with which status. */
  valid: Map<number, number>
  /** How often a wrong one was. */
  broken: Map<number, number>
}

export interface Runs {
  /** Right requests for each operation, and wrong ones for each way to be wrong. */
  valid: number
  broken: number
  seed: number
  /** Whether a counterexample is made smaller. */
  shrink?: boolean
}

export interface DriverOptions {
  given: Given
  /** Values of components that no answer tells. */
  seeds?: Readonly<Record<string, readonly unknown[]>>
  /** Codes with the status of a wrong request that nevertheless depend on the state of things. */
  stateCodes?: readonly string[]
}

/** Asks a service whatever its document allows and forbids, knowing nothing else, and judges each answer. */
export function createDriver(
  service: { url: string; agent: Agent },
  openapi: OpenApi,
  { given, seeds = {}, stateCodes = [] }: DriverOptions,
) {
  const { components, operations } = openapi
  const pool = createPool(components, seeds)
  const send = createSending(service, given, pool)
  const verdict = createVerdict(openapi, { stateCodes })

  const ask = async (
    operation: Operation,
    asked: Ask,
    judge: (answer: Sent['answer']) => string[],
  ): Promise<number> => {
    const sent = await send(operation, asked)
    const wrong = judge(sent.answer)
    if (wrong.length > 0) throw new Error(`${wrong.join('; ')}\n${told(sent)}`)
    learn(operation, sent)
    return sent.answer.status
  }
  const learn = (operation: Operation, { answer }: Sent) => {
    const schema = responseOf(operation, answer.status)?.content['application/json']?.schema
    if (schema && answer.status < 300) pool.harvest(schema, json(answer.body))
  }
  /** Only for what the answers tell; they are judged when it is their turn. */
  const listen = async (operation: Operation, times: number, seed: number) => {
    for (const asked of fc.sample(validAsk(operation, openapi), { numRuns: times, seed }))
      learn(operation, await send(operation, asked))
  }
  const askRightly = (operation: Operation, asked: Ask) =>
    ask(operation, asked, (answer) => verdict.toValid(operation, answer))

  const right = (operation: Operation, { valid: runs, seed, shrink = true }: Runs, found: Map<number, number>) =>
    fc.assert(
      fc.asyncProperty(validAsk(operation, openapi), async (asked) => count(found, await askRightly(operation, asked))),
      { numRuns: runs, seed, endOnFailure: !shrink },
    )

  const wrong = (
    operation: Operation,
    way: BrokenAsk,
    { broken, seed, shrink = true }: Runs,
    found: Map<number, number>,
  ) =>
    fc
      .assert(
        fc.asyncProperty(validAsk(operation, openapi), async (asked) =>
          count(found, await ask(operation, way.change(asked), (answer) => verdict.toBroken(operation, answer, way))),
        ),
        { numRuns: broken, seed, endOnFailure: !shrink },
      )
      .catch((error: unknown) => {
        throw new Error(`${operation.name}, when ${way.what}: ${error instanceof Error ? error.message : error}`, {
          cause: error instanceof Error ? error.cause : error,
        })
      })

  /** Once more than the limit allows from one address, where that is few. */
  const exhaust = async (operation: Operation, { seed }: Runs) => {
    const { limit, by } = operation['x-rate-limit'] ?? { limit: Number.POSITIVE_INFINITY, by: 'user' }
    if (limit > FEW || by === 'user') return
    const statuses: number[] = []
    for (const asked of fc.sample(validAsk(operation, openapi), { numRuns: limit + 1, seed })) {
      const sent = await send(operation, asked, 0)
      const wrong = verdict.answer(operation, sent.answer)
      if (wrong.length > 0) throw new Error(`${wrong.join('; ')}\n${told(sent)}`)
      statuses.push(sent.answer.status)
    }
    if (statuses.indexOf(429) !== limit) throw new Error(`of ${statuses.length} requests from one address, ${statuses}`)
  }

  /** Whether all that the operation names has been told already. */
  const lacks = (operation: Operation) => named(operation, openapi).filter((name) => !pool.has(name))

  const makers = (component: string) =>
    operations.filter((each) => each.method !== 'DELETE' && tells(each, component, openapi))

  return {
    pool,
    /** Reads what can be read without a name, so that the answers name what other requests need. */
    async explore({ seed }: Runs): Promise<void> {
      for (const operation of operations)
        if (operation.method === 'GET' && operation.parameters.every(({ required }) => !required))
          await listen(operation, 1, seed)
    },
    /** Asks for what makes the things that the operation names, where nothing has told of any. */
    async prepare(operation: Operation, runs: Runs): Promise<void> {
      for (const name of lacks(operation))
        for (const maker of makers(name)) if (!pool.has(name)) await listen(maker, runs.valid, runs.seed)
    },
    /** Makes some of what this component names, even if there are some. */
    async make(component: string, { seed }: Runs): Promise<void> {
      for (const maker of makers(component)) await listen(maker, FEW_MADE, seed)
    },
    /** Asks all that is right and all that is wrong. Rejects with fast-check's report. */
    async drive(operation: Operation, runs: Runs): Promise<Reached> {
      const reached: Reached = { valid: new Map(), broken: new Map() }
      for (const way of brokenAsks(operation, openapi)) await wrong(operation, way, runs, reached.broken)
      // What is asked for by chance may be there only rarely.
      for (let round = 0; round < ROUNDS && !succeeded(reached); round += 1)
        await right(operation, { ...runs, seed: runs.seed + round }, reached.valid)
      await exhaust(operation, runs)
      return reached
    },
  }
}

/** The most requests that are sent only to meet a limit. */
const FEW = 60
const ROUNDS = 10
const FEW_MADE = 3

export function succeeded({ valid }: Reached): boolean {
  return [...valid.keys()].some((status) => status < 300)
}

export function refused({ broken }: Reached): boolean {
  return [...broken.keys()].some((status) => status >= 400)
}

/** The components of the parameters and of the body. */
function named(operation: Operation, { components }: OpenApi): string[] {
  const body = bodyOf(operation)
  const schemas = [...operation.parameters.map(({ schema }) => schema), ...(body ? [body.schema] : [])]
  return schemas.flatMap((schema) => componentsIn(schema, components))
}

function tells(operation: Operation, component: string, { components }: OpenApi): boolean {
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  return answers.some(([, { content }]) =>
    Object.values(content).some(({ schema }) => componentsIn(schema, components).includes(component)),
  )
}

function count(found: Map<number, number>, status: number): void {
  found.set(status, (found.get(status) ?? 0) + 1)
}

function told({ wire, answer }: Sent): string {
  return [
    `${wire.method} ${wire.target}`,
    shown(wire.body),
    `${answer.status} ${JSON.stringify(answer.headers)}`,
    answer.body.slice(0, 2000),
  ].join('\n')
}
