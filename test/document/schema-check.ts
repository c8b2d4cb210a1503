import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { componentOf, isRecord, type Schema } from './json-schema.ts'

export type SchemaCheck = ReturnType<typeof createSchemaCheck>

/** What OpenAPI and AsyncAPI say inside of a schema and JSON Schema does not know. */
const ANNOTATIONS = ['example', 'discriminator', 'xml', 'externalDocs']

/** What these mean only the service can judge; their schemas have examples. */
const OWN_FORMATS = ['ssh-address', 'url-without-credentials', 'link']

/**
 * Judges values by the schemas of a document. `closed`: an object has what its schema names and nothing else, unless the
 * schema itself says what else.
 */
export function createSchemaCheck(document: Record<string, unknown>, { closed = false } = {}) {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, validateFormats: true })
  formats.default(ajv)
  ajv.addVocabulary(ANNOTATIONS)
  for (const format of OWN_FORMATS) ajv.addFormat(format, true)
  const components = isRecord(document.components) ? document.components.schemas : {}
  ajv.addSchema({ $id: 'document', $defs: placed(closed ? shut(components) : components) })
  const compiled = new Map<Schema, ReturnType<typeof ajv.compile>>()

  return {
    /** What is wrong with the value, as sentences. */
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

/** With references that lead to the components where Ajv keeps them. */
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

/** Copies a schema with each object of it changed; what only shows values is left as it is. */
function mapped(node: unknown, change: (each: Record<string, unknown>) => Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((each) => mapped(each, change))
  if (!isRecord(node)) return node
  const inner = Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : mapped(value, change)])
  return change(Object.fromEntries(inner))
}

const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum'])
