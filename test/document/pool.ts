import fc from 'fast-check'
import { type Components, componentOf, isRecord, itemOf, resolved, type Schema, typesOf } from './json-schema.ts'

/** A placeholder in a request for a value of a component from an answer, or for another value if there is none. */
export class FromPool {
  readonly component: string
  readonly nth: number
  readonly otherwise: unknown

  constructor(component: string, nth: number, otherwise: unknown) {
    this.component = component
    this.nth = nth
    this.otherwise = otherwise
  }

  /** The form of this placeholder in a counterexample. */
  [fc.toStringMethod](): string {
    return `<${this.component} ${this.nth}, else ${JSON.stringify(this.otherwise)}>`
  }

  toString(): string {
    return String(this.otherwise)
  }
}

export type Pool = ReturnType<typeof createPool>

/** Collects the values of each component from answers, for the next requests. */
export function createPool(components: Components, seeds: Readonly<Record<string, readonly unknown[]>> = {}) {
  const seen = new Map<string, unknown[]>(Object.entries(seeds).map(([name, values]) => [name, [...values]]))

  const add = (name: string, value: unknown) => {
    const values = seen.get(name) ?? []
    if (!values.includes(value)) seen.set(name, [...values, value].slice(-MAX_VALUES))
  }
  const harvest = (schema: Schema, value: unknown): void => {
    const name = componentOf(schema)
    if (name !== undefined && (typeof value === 'string' || typeof value === 'number')) add(name, value)
    const meant = resolved(schema, components)
    const { anyOf, oneOf, allOf, properties, additionalProperties } = meant
    for (const each of [anyOf, oneOf, allOf].flatMap((list) => list ?? []))
      if (fits(resolved(each, components), value)) harvest(each, value)
    if (Array.isArray(value))
      for (const [at, each] of value.entries()) {
        const item = itemOf(meant, at)
        if (item) harvest(item, each)
      }
    if (!isRecord(value)) return
    for (const [key, each] of Object.entries(value)) {
      const more = typeof additionalProperties === 'object' ? additionalProperties : undefined
      const own = properties?.[key] ?? more
      if (own) harvest(own, each)
    }
  }
  const settled = (value: unknown): unknown => {
    if (value instanceof FromPool) {
      const values = seen.get(value.component) ?? []
      return values.length > 0 ? values[value.nth % values.length] : value.otherwise
    }
    if (Array.isArray(value)) return value.map(settled)
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, settled(each)]))
  }
  return {
    /** Keeps the values in an answer of this schema. */
    harvest,
    /** The value with its placeholders replaced. */
    settled,
    has: (component: string) => seen.has(component),
  }
}

/** The number of kept values of a component, so many that some remain when requests use them up. */
const MAX_VALUES = 200

/** Whether a value matches an alternative, judged by its type alone. */
function fits(schema: Schema, value: unknown): boolean {
  const types = typesOf(schema)
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.length === 0 || types.includes(type) || (type === 'number' && types.includes('integer'))
}

/** The components whose values a value of this schema may contain. */
export function componentsIn(schema: Schema, components: Components, seen: ReadonlySet<string> = new Set()): string[] {
  const name = componentOf(schema)
  if (name !== undefined && seen.has(name)) return []
  const { anyOf, oneOf, allOf, prefixItems, items, properties, additionalProperties } = resolved(schema, components)
  const inner = [anyOf, oneOf, allOf, prefixItems].flatMap((list) => list ?? [])
  if (typeof items === 'object') inner.push(items)
  if (typeof additionalProperties === 'object') inner.push(additionalProperties)
  inner.push(...Object.values(properties ?? {}))
  const within = name === undefined ? seen : new Set([...seen, name])
  return [...(name === undefined ? [] : [name]), ...inner.flatMap((each) => componentsIn(each, components, within))]
}
