import type { Agent } from 'node:http'
import fc from 'fast-check'
import { type Ask, type BrokenAsk, brokenAsks, validAsk } from './asks.ts'
import { shown } from './broken-values.ts'
import { bodyOf, type OpenApi, type Operation, responseOf } from './openapi.ts'
import { componentsIn, createPool } from './pool.ts'
import { createSending, type Given, type Sent } from './sending.ts'
import { createVerdict, json } from './verdict.ts'

export interface Reached {
  /** How often valid requests were answered with each status. */
  valid: Map<number, number>
  /** How often invalid requests were answered with each status. */
  broken: Map<number, number>
}

export interface Runs {
  /** The number of valid requests for each operation, and of invalid ones for each kind of fault. */
  valid: number
  broken: number
  seed: number
  /** Whether a counterexample is made smaller. */
  shrink?: boolean
}

export interface DriverOptions {
  given: Given
  /** Values of components that no answer contains. */
  seeds?: Readonly<Record<string, readonly unknown[]>>
  /** Codes that have the status of an invalid request but depend on the state of the service. */
  stateCodes?: readonly string[]
}

/** Sends requests that the document allows or forbids, with no other knowledge, and judges each answer. */
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
  /** Sends requests only to collect values from the answers; `drive` judges answers later. */
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

  /** Exceeds the limit of an operation from one address, if the limit is small. */
  const exhaust = async (operation: Operation, { seed }: Runs) => {
    const { limit, by } = operation['x-rate-limit'] ?? { limit: Number.POSITIVE_INFINITY, by: 'user' }
    if (limit > MAX_LIMIT || by === 'user') return
    const statuses: number[] = []
    for (const asked of fc.sample(validAsk(operation, openapi), { numRuns: limit + 1, seed })) {
      const sent = await send(operation, asked, 0)
      const wrong = verdict.answer(operation, sent.answer)
      if (wrong.length > 0) throw new Error(`${wrong.join('; ')}\n${told(sent)}`)
      statuses.push(sent.answer.status)
    }
    if (statuses.indexOf(429) !== limit) throw new Error(`of ${statuses.length} requests from one address, ${statuses}`)
  }

  /** The components that the operation refers to and that no answer has contained yet. */
  const lacks = (operation: Operation) => named(operation, openapi).filter((name) => !pool.has(name))

  const makers = (component: string) =>
    operations.filter((each) => each.method !== 'DELETE' && tells(each, component, openapi))

  return {
    pool,
    /** Calls read operations without parameters, whose answers contain values that other requests need. */
    async explore({ seed }: Runs): Promise<void> {
      for (const operation of operations)
        if (operation.method === 'GET' && operation.parameters.every(({ required }) => !required))
          await listen(operation, 1, seed)
    },
    /** Creates objects that the operation refers to, if no answer has contained one. */
    async prepare(operation: Operation, runs: Runs): Promise<void> {
      for (const name of lacks(operation))
        for (const maker of makers(name)) if (!pool.has(name)) await listen(maker, runs.valid, runs.seed)
    },
    /** Creates objects of this component, even if there are some already. */
    async make(component: string, { seed }: Runs): Promise<void> {
      for (const maker of makers(component)) await listen(maker, FEW_MADE, seed)
    },
    /** Sends valid and invalid requests to an operation. Rejects with fast-check's report. */
    async drive(operation: Operation, runs: Runs): Promise<Reached> {
      const reached: Reached = { valid: new Map(), broken: new Map() }
      for (const way of brokenAsks(operation, openapi)) await wrong(operation, way, runs, reached.broken)
      // A random choice may find an existing object only rarely.
      for (let round = 0; round < ROUNDS && !succeeded(reached); round += 1)
        await right(operation, { ...runs, seed: runs.seed + round }, reached.valid)
      await exhaust(operation, runs)
      return reached
    },
  }
}

/** The highest limit that is tested, because the test sends one request more. */
const MAX_LIMIT = 60
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
