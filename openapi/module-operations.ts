import * as z from 'zod'
import type { oas31, ZodOpenApiOperationObject } from 'zod-openapi'
import type { ErrorTable } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { mayBeMissing } from '../runtime/input.ts'
import type { DocumentedModule, ModuleOperations } from './modules-part.ts'
import { operation, operationIdOf } from './operation.ts'
import { withoutSafeLimits } from './schema.ts'

const MAX_SUMMARY = 120
const MAX_DESCRIPTION = 2_000
/** Bytes of one schema or example. */
const MAX_BYTES = 64 * 1024
/** Endpoints of one module. */
const MOST = 200

/**
 * Describes the endpoints of modules, each module under a tag of its own. The declarations of a module are not the service's own:
 * texts are bounded, and a schema or example that cannot be described is left out, without a loss of the rest.
 * `names` are the tags of the service, `ids` its operations.
 */
export function moduleOperations(
  modules: readonly DocumentedModule[],
  { errors, names, ids }: { errors: ErrorTable; names: Iterable<string>; ids: Iterable<string> },
): ModuleOperations {
  const tags: ModuleOperations['tags'] = []
  const paths: ModuleOperations['paths'] = {}
  const taken = new Set(names)
  const operations = new Set(ids)
  for (const module of modules) {
    const title = shortened(module.name, MAX_SUMMARY)
    const name = title === '' || taken.has(title) ? `${title} (${module.id})`.trim() : title
    taken.add(name)
    tags.push({ name, description: shortened(module.description, MAX_DESCRIPTION) || `The module ${module.id}.` })
    /** The names of parameters by the form of the path: they may differ between two methods, but not in the document. */
    const forms = new Map<string, string[]>()
    for (const fn of module.functions.slice(0, MOST)) {
      const own = Array.from(fn.path.matchAll(/:(\w+)/g), ([, word = '']) => word)
      const form = fn.path.replace(/:\w+/g, ':')
      const shown = forms.get(form) ?? own
      forms.set(form, shown)
      let place = 0
      const path = fn.path.replace(/:\w+/g, () => `{${shown[place++]}}`)
      const renamed = new Map(own.map((word, index) => [word, shown[index] ?? word]))
      const operationId = unused(operationIdOf(fn), operations)
      paths[path] = {
        ...paths[path],
        [fn.method.toLowerCase()]: described(fn, { errors, tag: name, operationId, renamed }),
      }
    }
  }
  return { tags, paths }
}

function described(
  fn: AnyFunction,
  {
    errors,
    tag,
    operationId,
    renamed,
  }: { errors: ErrorTable; tag: string; operationId: string; renamed: ReadonlyMap<string, string> },
): ZodOpenApiOperationObject {
  const { params, query, body } = fn.request ?? {}
  const { example: _, headers: __, ...rest } = fn
  const plain = operation(
    {
      ...rest,
      summary: shortened(fn.summary ?? '', MAX_SUMMARY) || summaryOf(fn),
      description: shortened(fn.description ?? '', MAX_DESCRIPTION),
      headers: Object.fromEntries(
        Object.entries(fn.headers ?? {}).flatMap(([name, text]) =>
          /^[\w-]{1,100}$/.test(name) ? [[name, shortened(text, MAX_SUMMARY)]] : [],
        ),
      ),
      // Its cookies are for the module alone, and its schemas are added below.
      request: {
        ...(fn.request?.refusal !== undefined && { refusal: fn.request.refusal }),
        ...(params && { params }),
        ...(query && { query }),
        ...(body && { body }),
      },
    },
    errors,
  )
  const { requestParams: ___, requestBody: ____, responses, ...operationOnly } = plain
  const { contentType = 'application/json' } = fn
  const success = `${typeof fn.status === 'number' ? fn.status : 200}` as const
  const media = (schema: z.ZodType, io: 'input' | 'output', example: unknown) => {
    const [written, sample] = [jsonSchema(schema, io), plainJson(example)]
    return { ...(written && { schema: written }), ...(sample !== undefined && { example: sample }) }
  }
  return {
    ...operationOnly,
    operationId,
    tags: [tag],
    parameters: [...parametersOf('path', params, renamed), ...parametersOf('query', query)],
    ...(body && {
      requestBody: {
        required: !mayBeMissing(body),
        content: { 'application/json': media(body, 'input', fn.example?.body) },
      },
    }),
    responses: {
      ...responses,
      [success]: {
        ...responses[success],
        content: { [contentType]: media(fn.response, 'output', fn.example?.response) },
      },
    },
  }
}

const Properties = z.object({
  properties: z.record(z.string(), z.custom<oas31.SchemaObject>()).default({}),
  required: z.array(z.string()).default([]),
})

function parametersOf(
  place: 'path' | 'query',
  schema: z.ZodObject | undefined,
  renamed?: ReadonlyMap<string, string>,
): oas31.ParameterObject[] {
  if (!schema) return []
  const { properties, required } = Properties.parse(jsonSchema(schema, 'input') ?? {})
  return Object.keys(schema.shape).map((name) => ({
    name: renamed?.get(name) ?? name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: properties[name] ?? {},
  }))
}

/** Returns the schema as plain JSON without references, or undefined when it cannot be described. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): oas31.SchemaObject | undefined {
  try {
    const { $schema: _, ...written } = z.toJSONSchema(schema, {
      io,
      // Names that a module gives to its schemas could be those of the service.
      metadata: z.registry(),
      unrepresentable: 'any',
      cycles: 'throw',
      override({ zodSchema, jsonSchema }) {
        withoutSafeLimits(jsonSchema)
        const { title, description } = z.globalRegistry.get(zodSchema) ?? {}
        if (title !== undefined) jsonSchema.title = shortened(title, MAX_SUMMARY)
        if (description !== undefined) jsonSchema.description = shortened(description, MAX_DESCRIPTION)
      },
    })
    return Schema.parse(plainJson(written))
  } catch {
    return undefined
  }
}

const Schema = z.custom<oas31.SchemaObject>((value) => typeof value === 'object' && value !== null)

/** Returns a copy as JSON; undefined for what JSON cannot contain and for what is too long. */
function plainJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text === undefined || text.length > MAX_BYTES ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns a title for an endpoint without one, from its path: `GET greetings/{lang}`. */
function summaryOf({ method, path }: AnyFunction): string {
  const own = path.replace(/^\/api\/modules\/[^/]+\//, '').replace(/:(\w+)/g, '{$1}')
  return shortened(`${method} ${own}`, MAX_SUMMARY)
}

/** Returns the text without control characters, shortened. */
function shortened(text: string, most: number): string {
  const plain = text.replace(/[^\P{Cc}\n\t]/gu, ' ').trim()
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain
}

/** Returns the id, with a number where another operation has it. */
function unused(id: string, taken: Set<string>): string {
  let found = id
  for (let number = 2; taken.has(found); number += 1) found = `${id}${number}`
  taken.add(found)
  return found
}
