import fc from 'fast-check'
import { type Components, componentOf, isRecord, itemOf, resolved, type Schema, typesOf } from './json-schema.ts'

/** Stands in a request for a value of a component that the service has told, or for another where it has told none. */
export class FromPool {
  readonly component: string
  readonly nth: number
  readonly otherwise: unknown

  constructor(component: string, nth: number, otherwise: unknown) {
    this.component = component
    this.nth = nth
    this.otherwise = otherwise
  }

  /** As a counterexample shows it. */
  [fc.toStringMethod](): string {
    return `<${this.component} ${this.nth}, else ${JSON.stringify(this.otherwise)}>`
  }

  toString(): string {
    return String(this.otherwise)
  }
}

export type Pool = ReturnType<typeof createPool>

/** The values of each component that were seen in answers: what the next requests can name. */
export function createPool(components: Components, seeds: Readonly<Record<string, readonly unknown[]>> = {}) {
  const seen = new Map<string, unknown[]>(Object.entries(seeds).map(([name, values]) => [name, [...values]]))

  const add = (name: string, value: unknown) => {
    const values = seen.get(name) ?? []
    if (!values.includes(value)) seen.set(name, [...values, value].slice(-MOST))
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
    /** Keeps what an answer of this schema tells. */
    harvest,
    /** The value with what its places stand for. */
    settled,
    has: (component: string) => seen.has(component),
  }
}

/** The newest of a kind; enough of them that what is used up does not leave none. */
const MOST = 200

/** Of alternatives that are told apart by their type alone. */
function fits(schema: Schema, value: unknown): boolean {
  const types = typesOf(schema)
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.length === 0 || types.includes(type) || (type === 'number' && types.includes('integer'))
}

/** The components that a value of this schema may tell. */
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
