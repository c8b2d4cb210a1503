/*
 * The fields in the schemas of a module's endpoints. The schemas are read as JSON Schema, which describes the values on
 * the wire; a part that it cannot describe, such as a transformation, may contain any field.
 */

import * as z from 'zod'

const Node = z.looseObject({
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
  allOf: z.array(z.unknown()).optional().catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  const: z.unknown().optional(),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  minLength: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
  pattern: z.string().optional().catch(undefined),
  format: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  default: z.unknown().optional(),
})
/** A JSON Schema with the keywords that this file reads. */
export type Node = z.infer<typeof Node>

/** A schema that describes nothing, so that any field may exist in it. */
const ANYTHING: Node = {}

/** Reads a schema as the service sends (`output`) or accepts it (`input`). */
export function nodeOf(schema: z.ZodType, io: 'input' | 'output'): Node {
  try {
    return asNode(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  } catch {
    return ANYTHING
  }
}

function asNode(value: unknown): Node {
  return Node.safeParse(value).data ?? ANYTHING
}

/** The variants of a schema, without those for null. */
export function variants(node: Node): Node[] {
  const choices = node.anyOf ?? node.oneOf
  if (!choices) return node.type === 'null' ? [] : [node]
  return choices.flatMap((each) => variants(asNode(each)))
}

/** Whether the schema accepts null. */
export function takesNull(node: Node): boolean {
  if (node.type === 'null' || (Array.isArray(node.type) && node.type.includes('null'))) return true
  return (node.anyOf ?? node.oneOf ?? []).some((each) => takesNull(asNode(each)))
}

const says = (node: Node) => node.type !== undefined || node.enum !== undefined || node.const !== undefined

/** Returns the schema of a field, such as `owner.name`; undefined when the value cannot have it. */
export function fieldOf(node: Node, path: string): Node | undefined {
  let found: Node | undefined = node
  for (const name of path === '' ? [] : path.split('.')) found = found && stepOf(found, name)
  return found
}

function stepOf(node: Node, name: string): Node | undefined {
  for (const each of variants(node)) {
    for (const part of each.allOf ?? []) {
      const found = stepOf(asNode(part), name)
      if (found) return found
    }
    if (each.allOf) continue
    if (!says(each) && !each.properties) return ANYTHING
    if (each.properties && Object.hasOwn(each.properties, name)) return asNode(each.properties[name])
    const { additionalProperties: more } = each
    if (each.type === 'object' && more !== undefined && more !== false) return more === true ? ANYTHING : asNode(more)
  }
  return undefined
}

/** Returns the schema of a list's entries; undefined when the value cannot be a list. */
export function entriesOf(node: Node): Node | undefined {
  for (const each of variants(node)) {
    if (each.type === 'array') return asNode(each.items)
    if (!says(each) && !each.properties && !each.allOf) return ANYTHING
  }
  return undefined
}

/** The fields of an object that the service accepts; undefined when the schema describes no object. */
export function fieldsOf(node: Node): { name: string; node: Node; required: boolean }[] | undefined {
  const object = variants(node).find(({ properties }) => properties)
  if (!object?.properties) return undefined
  const required = new Set(object.required)
  return Object.entries(object.properties).map(([name, value]) => ({
    name,
    node: asNode(value),
    required: required.has(name),
  }))
}
