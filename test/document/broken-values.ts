import { type Components, isRecord, resolved, type Schema } from './json-schema.ts'
import type { SchemaCheck } from './schema-check.ts'

/** One fault in an otherwise valid value. */
export interface Breakage {
  what: string
  /** The path of the faulty value from the root; empty for the root. */
  at: readonly string[]
  /** Undefined removes the value. */
  value: unknown
}

/** Values that a caller might send instead. The schema decides which of them are invalid. */
const OTHER_VALUES: readonly unknown[] = [null, true, 12, -1, 1.5, 'x', '', [], {}, [1], { a: 1 }]

/** The longest text that is sent to exceed a bound; a longer one would make the whole body too large. */
const LONGEST = 200_000

/** Returns every way to break a value in one place, at any depth. */
export function breakages(schema: Schema, components: Components, check: SchemaCheck): Breakage[] {
  const meant = resolved(schema, components)
  const wrong = [...OTHER_VALUES, ...nearlyRight(meant)].filter((value) => check.complaints(schema, value).length > 0)
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

/** Invalid contents of a text that must contain JSON. */
function wrongTexts({ contentMediaType, contentSchema }: Schema, components: Components, check: SchemaCheck): string[] {
  if (contentMediaType !== 'application/json' || !contentSchema) return []
  const wholes = breakages(contentSchema, components, check).filter(({ at }) => at.length === 0)
  return ['', '{', ...wholes.map(({ value }) => JSON.stringify(value))]
}

/** Values just outside each bound of the schema. */
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

/** Returns the value with one fault. */
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
