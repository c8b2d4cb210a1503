/** The part of a JSON Schema that this module reads. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  items?: Schema | false
  prefixItems?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  description?: string
}

/** Returns the TypeScript type of a JSON Schema. Throws on an unknown schema, so that none becomes `any` unnoticed. */
export function schemaType(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const some = schema.anyOf ?? schema.oneOf
  if (some) return some.map(schemaType).join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => `(${schemaType(part)})`).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => schemaType({ ...schema, type })).join(' | ')
  if (schema.type === undefined && Object.keys(schema).every((key) => key === 'description')) return 'unknown'
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      if (schema.prefixItems) return `[${schema.prefixItems.map(schemaType).join(', ')}]`
      return `Array<${schemaType(schema.items || {})}>`
    case 'object':
      return objectType(schema)
    default:
      throw new Error(`a schema without a type in TypeScript: ${JSON.stringify(schema)}`)
  }
}

/** Returns the type name for a reference to a component. */
function nameOf(ref: string): string {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? []
  if (name === undefined) throw new Error(`a reference to something else than a schema: ${ref}`)
  return name
}

/** Only an object without declared properties gets an index signature; any other type has the declared ones alone. */
function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const names = Object.entries(properties)
  if (names.length === 0) {
    if (additionalProperties === false) return 'Record<string, never>'
    return `Record<string, ${schemaType(typeof additionalProperties === 'object' ? additionalProperties : {})}>`
  }
  const members = names.map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${comment(schema.description)}${key}${required.includes(name) ? '' : '?'}: ${schemaType(schema)}`
  })
  return `{ ${members.join('; ')} }`
}

/** Formats a description as a doc comment. */
export function comment(description: string | undefined): string {
  return description ? `/** ${description.replaceAll('*/', '*∕').replace(/\s*\n\s*/g, ' ')} */\n` : ''
}
