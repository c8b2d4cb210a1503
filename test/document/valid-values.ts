import fc from 'fast-check'
import { type Components, componentOf, itemOf, resolved, type Schema, typesOf } from './json-schema.ts'
import { FromPool } from './pool.ts'

/** The length of the longest generated text where the schema has no bound, or a distant one. */
const LONG = 60

/** Generates any value of a schema, including its examples, its bounds, and values of its component from answers. */
export function valid(schema: Schema, components: Components): fc.Arbitrary<unknown> {
  const name = componentOf(schema)
  const meant = resolved(schema, components)
  const any = isOpaque(meant)
    ? fc.constantFrom(...(meant.examples ?? []))
    : withExamples(meant, made(meant, components))
  const isScalar = typesOf(meant).some((type) => type === 'string' || type === 'integer')
  if (name === undefined || !isScalar) return any
  const told = fc.tuple(fc.nat(MAX_INDEX), any).map(([nth, otherwise]) => new FromPool(name, nth, otherwise))
  return fc.oneof({ arbitrary: told, weight: 3 }, { arbitrary: any, weight: 1 })
}

/** Whether the schema has a format of the service's own, of which the document contains only examples. */
function isOpaque({ format, examples }: Schema): boolean {
  return format !== undefined && !KNOWN_FORMATS.has(format) && examples !== undefined
}
const KNOWN_FORMATS = new Set(['uuid', 'date-time', 'uri'])

/** The highest index of a value in the pool. */
const MAX_INDEX = 199

function withExamples(schema: Schema, any: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const given = [...(schema.examples ?? []), ...('default' in schema ? [schema.default] : [])]
  return given.length === 0 ? any : fc.oneof({ arbitrary: any, weight: 3 }, fc.constantFrom(...given))
}

function made(schema: Schema, components: Components): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return fc.oneof(...alternatives.map((each) => valid(each, components)))
  if (schema.allOf) throw new Error('no values are made for allOf')
  const types = typesOf(schema)
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 })
  return fc.oneof(...types.map((type) => ofType(type, schema, components)))
}

function ofType(type: string, schema: Schema, components: Components): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return contentOf(schema, components) ?? sameText(schema)
    case 'integer': {
      const { min, max } = bounds(schema, 1)
      // Both bounds occur often, because documents are often wrong there.
      return fc.oneof({ arbitrary: fc.integer({ min, max }), weight: 2 }, fc.constantFrom(min, max))
    }
    case 'number':
      return fc.double({ ...bounds(schema, Number.EPSILON), noNaN: true, noDefaultInfinity: true })
    case 'array':
      if (schema.prefixItems) return fc.tuple(...schema.prefixItems.map((each) => valid(each, components)))
      return fc.array(valid(itemOf(schema, 0) ?? {}, components), {
        ...(schema.minItems !== undefined && { minLength: schema.minItems }),
        maxLength: Math.min(schema.maxItems ?? 4, (schema.minItems ?? 0) + 4),
      })
    case 'object':
      return object(schema, components)
    default:
      throw new Error(`no values are made of type ${type}`)
  }
}

/** The bounds of a number; an open end is one `step` inside. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema, step: number) {
  const min = Math.max(minimum ?? Number.MIN_SAFE_INTEGER, (exclusiveMinimum ?? Number.MIN_SAFE_INTEGER) + step)
  const max = Math.min(maximum ?? Number.MAX_SAFE_INTEGER, (exclusiveMaximum ?? Number.MAX_SAFE_INTEGER) - step)
  // fc.integer defaults to 32 bits.
  return { min: Math.ceil(min), max: Math.floor(max) }
}

/** JSON inside of a text, if the schema says so. */
function contentOf(schema: Schema, components: Components): fc.Arbitrary<string> | undefined {
  const { contentMediaType, contentSchema } = schema
  if (contentMediaType !== 'application/json' || !contentSchema) return undefined
  return valid(contentSchema, components)
    .map((value) => JSON.stringify(value))
    .filter(fitting(schema))
}

/** Unicode and JavaScript count characters differently; a text must fit by both counts, since either would be right. */
function fitting({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): (text: string) => boolean {
  return (text) => [...text].length >= minLength && text.length <= maxLength
}

/** By pattern, format and bounds. fast-check tries all its special texts on each generator of texts, which takes milliseconds. */
const texts = new Map<string, fc.Arbitrary<string>>()

function sameText(schema: Schema): fc.Arbitrary<string> {
  const { pattern, format, minLength, maxLength } = schema
  const key = JSON.stringify([pattern, format, minLength, maxLength])
  const known = texts.get(key) ?? text(schema)
  texts.set(key, known)
  return known
}

function text(schema: Schema): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  const fits = fitting(schema)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u')).filter(fits)
  if (format !== undefined) return formatted(format).filter(fits)
  const most = Math.min(maxLength, Math.max(minLength, LONG))
  const any = fc.oneof(
    { arbitrary: fc.string({ minLength, maxLength: most }), weight: 3 },
    { arbitrary: fc.string({ unit: 'binary', minLength, maxLength: most }).filter(fits), weight: 1 },
  )
  if (maxLength > LONGEST) return any
  return fc.oneof({ arbitrary: any, weight: 8 }, fc.constant('x'.repeat(maxLength)))
}

/** The longest text that is generated to reach a bound. */
const LONGEST = 100_000

function formatted(format: string): fc.Arbitrary<string> {
  switch (format) {
    case 'uuid':
      return fc.uuid()
    case 'date-time':
      return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((each) => each.toISOString())
    case 'uri':
      return fc.webUrl()
    default:
      throw new Error(`no texts are made of format ${format}`)
  }
}

/** Generates all required properties, some optional ones and, if allowed, some additional ones. */
function object(schema: Schema, components: Components): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties = true } = schema
  const own = fc.record(
    Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, valid(each, components)])),
    { requiredKeys: required.filter((key) => key in properties) },
  )
  if (additionalProperties === false) return own
  const value = additionalProperties === true ? fc.jsonValue({ maxDepth: 1 }) : valid(additionalProperties, components)
  const key = fc.string({ minLength: 1, maxLength: 8 }).filter((each) => !(each in properties) && each !== '__proto__')
  const more = fc.array(fc.tuple(key, value), { maxLength: 2 })
  return fc.tuple(more, own).map(([extra, right]) => ({ ...Object.fromEntries(extra), ...right }))
}
