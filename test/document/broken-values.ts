import { type Components, isRecord, resolved, type Schema } from './json-schema.ts'
import type { SchemaCheck } from './schema-check.ts'

/** One thing that is wrong with an otherwise valid value. */
export interface Breakage {
  what: string
  /** Where the value stands, from the root; empty for the whole. */
  at: readonly string[]
  /** Undefined takes it away. */
  value: unknown
}

/** What a caller might send instead. Which of these are really wrong is for the schema to say. */
const STRANGERS: readonly unknown[] = [null, true, 12, -1, 1.5, 'x', '', [], {}, [1], { a: 1 }]

/** Longest text that is sent for being too long; beyond it the whole body is. */
const LONGEST = 200_000

/** Every way to break a value in one place, the place itself and what stands in it included. */
export function breakages(schema: Schema, components: Components, check: SchemaCheck): Breakage[] {
  const meant = resolved(schema, components)
  const wrong = [...STRANGERS, ...nearlyRight(meant)].filter((value) => check.complaints(schema, value).length > 0)
  wrong.push(...wrongTexts(meant, components, check))
  const whole = wrong.map((value) => ({ what: `is ${shown(value)}`, at: [], value }))
  const { properties = {}, required = [], additionalProperties } = meant
  const missing = required.map((key) => ({ what: `${key} is missing`, at: [key], value: undefined }))
  const inner = Object.entries(properties).flatMap(([key, each]) =>
    breakages(each, components, check).map(({ what, at, value }) => ({
      what: `${key} ${what}`,
      at: [key, ...at],
      value,
    })),
  )
  const more = additionalProperties === false ? [{ what: 'undeclared is there', at: ['undeclared'], value: 1 }] : []
  return [...whole, ...missing, ...inner, ...more]
}

/** What is no JSON, or not the right one, in a text that should hold some. */
function wrongTexts({ contentMediaType, contentSchema }: Schema, components: Components, check: SchemaCheck): string[] {
  if (contentMediaType !== 'application/json' || !contentSchema) return []
  const wholes = breakages(contentSchema, components, check).filter(({ at }) => at.length === 0)
  return ['', '{', ...wholes.map(({ value }) => JSON.stringify(value))]
}

/** Beside each bound of the schema, on the wrong side. */
function nearlyRight(schema: Schema): unknown[] {
  const { minLength = 0, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const { minItems = 0, maxItems } = schema
  const beside: unknown[] = ['\u0000', 'nothing of the kind', `${schema.enum?.[0] ?? schema.const}x`]
  if (minLength > 0) beside.push('x'.repeat(minLength - 1))
  if (maxLength !== undefined && maxLength < LONGEST) beside.push('x'.repeat(maxLength + 1))
  if (minimum !== undefined) beside.push(minimum - 1)
  if (maximum !== undefined) beside.push(maximum + 1)
  if (exclusiveMinimum !== undefined) beside.push(exclusiveMinimum)
  if (exclusiveMaximum !== undefined) beside.push(exclusiveMaximum)
  if (minItems > 0) beside.push([])
  if (maxItems !== undefined) beside.push(Array.from({ length: maxItems + 1 }, () => null))
  return beside
}

/** The value with the one thing broken. */
export function broken(value: unknown, { at: [key, ...rest], value: wrong }: Pick<Breakage, 'at' | 'value'>): unknown {
  if (key === undefined) return wrong
  const { [key]: inner, ...others } = isRecord(value) ? value : {}
  const changed = broken(inner, { at: rest, value: wrong })
  return changed === undefined ? others : { ...others, [key]: changed }
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text
}
