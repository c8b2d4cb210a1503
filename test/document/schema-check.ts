import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { componentOf, isRecord, type Schema } from './json-schema.ts'

export type SchemaCheck = ReturnType<typeof createSchemaCheck>

/** Keywords of OpenAPI and AsyncAPI in schemas that JSON Schema does not know. */
const ANNOTATIONS = ['example', 'discriminator', 'xml', 'externalDocs']

/** Only the service can check these formats; their schemas have examples. */
const OWN_FORMATS = ['ssh-address', 'url-without-credentials', 'link', 'line', 'time-zone', 'cron']

/** To compile the schemas takes longer than to check most answers. */
const checks = { open: new WeakMap<object, SchemaCheck>(), closed: new WeakMap<object, SchemaCheck>() }

/**
 * Checks values against the schemas of a document. `closed`: an object may have only the properties of its schema,
 * unless the schema declares additional ones.
 */
export function schemaCheckOf(document: Record<string, unknown>, { closed = false } = {}): SchemaCheck {
  const known = checks[closed ? 'closed' : 'open']
  const check = known.get(document) ?? createSchemaCheck(document, closed)
  known.set(document, check)
  return check
}

function createSchemaCheck(document: Record<string, unknown>, closed: boolean) {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, validateFormats: true })
  formats.default(ajv)
  ajv.addVocabulary(ANNOTATIONS)
  for (const format of OWN_FORMATS) ajv.addFormat(format, true)
  const components = isRecord(document.components) ? document.components.schemas : {}
  ajv.addSchema({ $id: 'document', $defs: placed(closed ? shut(components) : components) })
  const compiled = new Map<Schema, ReturnType<typeof ajv.compile>>()

  return {
    /** The faults of the value, as sentences. */
    complaints(schema: Schema, value: unknown): string[] {
      const known = compiled.get(schema)
      const own = closed ? shut(schema) : schema
      const check = known ?? ajv.compile(Object(placed(own)))
      compiled.set(schema, check)
      if (check(value)) return []
      return (check.errors ?? []).map(({ instancePath, message, params }) =>
        [instancePath || 'the whole', message, JSON.stringify(params)].join(' '),
      )
    },
  }
}

/** Rewrites references so that Ajv finds the components. */
function placed(node: unknown): unknown {
  return mapped(node, (each) => {
    const name = typeof each.$ref === 'string' ? componentOf({ $ref: each.$ref }) : undefined
    return name === undefined ? each : { ...each, $ref: `document#/$defs/${name}` }
  })
}

function shut(node: unknown): unknown {
  return mapped(node, (each) =>
    'properties' in each && !('additionalProperties' in each) ? { ...each, additionalProperties: false } : each,
  )
}

/** Copies named schemas and changes each of them. */
function mappedEach(
  schemas: Record<string, unknown>,
  change: (each: Record<string, unknown>) => Record<string, unknown>,
) {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, mapped(schema, change)]))
}

/** Copies a schema and changes each of its objects, except examples and other plain values. */
function mapped(node: unknown, change: (each: Record<string, unknown>) => Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((each) => mapped(each, change))
  if (!isRecord(node)) return node
  const inner = Object.entries(node).map(([key, value]) => {
    // A property may have the name of a keyword, such as `default`.
    if (key === 'properties' && isRecord(value)) return [key, mappedEach(value, change)]
    return [key, VALUES.has(key) ? value : mapped(value, change)]
  })
  return change(Object.fromEntries(inner))
}

const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum'])
