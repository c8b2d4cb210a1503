import fc from 'fast-check'
import { breakages, broken, shown } from './broken-values.ts'
import { isRecord, resolved, type Schema, typesOf } from './json-schema.ts'
import { bodyOf, type OpenApi, type Operation } from './openapi.ts'
import { schemaCheckOf } from './schema-check.ts'
import { valid } from './valid-values.ts'

/** The sender of a request; `rubbish` sends an invalid token. */
export type Caller = 'nobody' | 'rubbish' | 'user' | 'admin'

/** A request made from the document, in which credentials and values of the pool are still placeholders. */
export interface Ask {
  caller: Caller
  /** The cookies to send that are credentials. */
  cookies: readonly string[]
  path: Readonly<Record<string, unknown>>
  query: Readonly<Record<string, unknown>>
  body: { json: unknown } | { text: string } | undefined
  /** Headers in addition to those that the rest of the request needs. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Whether the body gets the given values for properties of the same name. */
  given: boolean
}

export interface BrokenAsk {
  what: string
  /** The status of the refusal. */
  status: number
  /** Whether the refusal precedes every other one, even that of an exceeded user limit. */
  first: boolean
  change: (ask: Ask) => Ask
}

type Parameter = Operation['parameters'][number]

/** Segments that change the meaning of a path. */
const NO_PART = new Set(['', '.', '..'])

/** The security schemes of each alternative; an alternative may be empty. */
function waysIn({ security }: Operation): string[][] {
  return security.length === 0 ? [[]] : security.map((way) => Object.keys(way))
}

/** Parameters in cookies are credentials, so they belong to the security schemes. */
function parametersIn(place: 'path' | 'query', { parameters }: Operation): Parameter[] {
  return parameters.filter((each) => each.in === place)
}

/** Generates any request that the document allows. */
export function validAsk(operation: Operation, openapi: OpenApi): fc.Arbitrary<Ask> {
  const { components, schemes } = openapi
  const isToken = (name: string) => schemes[name]?.type === 'http'
  const cookieOf = (name: string) => (schemes[name]?.in === 'cookie' ? [schemes[name]?.name ?? name] : [])
  const asking = fc.constantFrom(...waysIn(operation)).chain((way) =>
    fc.record({
      caller: way.some(isToken)
        ? fc.constantFrom<Caller>(
            ...(operation['x-role'] === 'admin' ? ['admin' as const] : ['user' as const, 'admin' as const]),
          )
        : fc.constant<Caller>('nobody'),
      cookies: fc.constant(way.flatMap(cookieOf)),
    }),
  )
  const values = (place: 'path' | 'query') => {
    const list = parametersIn(place, operation)
    const any = (schema: Schema) => {
      const right = valid(schema, components)
      return place === 'path' ? right.filter((value) => !NO_PART.has(String(value))) : right
    }
    return fc.record(Object.fromEntries(list.map(({ name, schema }) => [name, any(schema)])), {
      requiredKeys: list.filter(({ required }) => required).map(({ name }) => name),
    })
  }
  const body = bodyOf(operation)
  const right = body && valid(body.schema, components)
  const withExample =
    right && (body.example === undefined ? right : fc.oneof({ arbitrary: right, weight: 4 }, fc.constant(body.example)))
  return fc
    .record({
      asking,
      path: values('path'),
      query: values('query'),
      body: withExample ? withExample.map((json) => ({ json })) : fc.constant(undefined),
      given: fc.boolean(),
    })
    .map(({ asking: who, ...rest }) => ({ ...rest, ...who, headers: [] }))
}

/** Generates every invalid request, each with one fault. */
export function brokenAsks(operation: Operation, openapi: OpenApi): BrokenAsk[] {
  return [...strangers(operation), ...wrongBodies(operation, openapi), ...wrongParameters(operation, openapi), TOO_LONG]
}

const TOO_LONG: BrokenAsk = {
  what: 'the headers are far too long',
  status: 431,
  first: true,
  change: (ask) => ({ ...ask, headers: [['X-Padding', 'x'.repeat(100_000)]] }),
}

function strangers(operation: Operation): BrokenAsk[] {
  if (waysIn(operation).some((way) => way.length === 0)) return []
  const as = (what: string, caller: Caller, status: number): BrokenAsk => ({
    what,
    status,
    first: true,
    change: (ask) => ({ ...ask, caller, cookies: [] }),
  })
  return [
    as('nobody asks', 'nobody', 401),
    as('who asks has rubbish for a token', 'rubbish', 401),
    ...(operation['x-role'] === 'admin' ? [as('no administrator asks', 'user', 403)] : []),
  ]
}

/** Operations that refuse a body of the wrong shape with 422, as version 0.2 specifies. */
const UNPROCESSABLE = new Set(['PUT /api/updates/protection/{target}'])

function wrongBodies(operation: Operation, { components, raw }: OpenApi): BrokenAsk[] {
  const body = bodyOf(operation)
  if (!body) return []
  const text = (what: string, words: string, status: number): BrokenAsk => ({
    what,
    status,
    first: false,
    change: (ask) => ({ ...ask, body: { text: words } }),
  })
  const wrong = breakages(body.schema, components, schemaCheckOf(raw)).map(
    (breakage): BrokenAsk => ({
      what: `the body ${breakage.what}`,
      status: UNPROCESSABLE.has(operation.name) ? 422 : 400,
      first: false,
      change: (ask) => {
        const json = ask.body && 'json' in ask.body ? ask.body.json : undefined
        return { ...ask, body: { json: broken(json, breakage) }, given: false }
      },
    }),
  )
  return [
    ...wrong,
    ...(operation.requestBody?.required ? [text('there is no body', '', 400)] : []),
    text('the body is cut off', '{"', 400),
    text('the body is no JSON', 'a=b', 400),
    text('something follows the body', '{} {}', 400),
    text('the body is far too long', `{"a":"${'x'.repeat(1 << 20)}"}`, 413),
  ]
}

const WORDS = ['', 'x', '-1', '0', '1.5', 'nothing of the kind', 'x'.repeat(300), '\u0000', '🜁', 'null', '[]']

function wrongParameters(operation: Operation, openapi: OpenApi): BrokenAsk[] {
  const check = schemaCheckOf(openapi.raw)
  return (['path', 'query'] as const).flatMap((place) =>
    parametersIn(place, operation).flatMap(({ name, schema, required }) => {
      const meant = resolved(schema, openapi.components)
      const beside = [meant.minimum, meant.exclusiveMinimum].map((n) => n !== undefined && String(n - 1))
      const above = [meant.maximum, meant.exclusiveMaximum].map((n) => n !== undefined && String(n + 1))
      const words = [...WORDS, ...beside, ...above, 'x'.repeat((meant.maxLength ?? 0) + 1)].flatMap((word) =>
        // An empty segment would change the path.
        typeof word === 'string' && !(place === 'path' && word === '') ? [word] : [],
      )
      const wrong = [...new Set(words)].filter((word) => check.complaints(schema, readAs(meant, word)).length > 0)
      const status = place === 'path' ? 404 : 400
      const put = (what: string, value: unknown): BrokenAsk => ({
        what: `${name} in the ${place} ${what}`,
        status,
        first: false,
        change: (ask) => ({ ...ask, [place]: changed(ask[place], name, value) }),
      })
      return [
        ...wrong.map((word) => put(`is ${shown(word)}`, word)),
        ...(required && place === 'query' ? [put('is missing', undefined)] : []),
      ]
    }),
  )
}

function changed(values: Ask['query'], name: string, value: unknown): Ask['query'] {
  const { [name]: _, ...others } = values
  return value === undefined ? others : { ...others, [name]: value }
}

/** Parses a text in an address by its schema. */
function readAs(schema: Schema, word: string): unknown {
  const isNumber = typesOf(schema).some((type) => type === 'integer' || type === 'number')
  return isNumber && /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word
}

/** Puts the given values into the JSON of a body. */
export function withGiven(json: unknown, schema: Schema, given: Readonly<Record<string, unknown>>): unknown {
  if (!isRecord(json)) return json
  const own = Object.entries(given).filter(([name]) => schema.properties?.[name])
  return { ...json, ...Object.fromEntries(own) }
}
