import * as z from 'zod'
import { type Components, isRecord, Schema } from './json-schema.ts'

const Header = z.looseObject({ required: z.boolean().default(false), schema: Schema })
const Content = z.record(z.string(), z.looseObject({ schema: Schema, example: z.unknown().optional() }))
const Response = z.looseObject({ headers: z.record(z.string(), Header).default({}), content: Content.default({}) })
const Parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'cookie']),
  required: z.boolean().default(false),
  schema: Schema,
})
const Described = z.looseObject({
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  'x-role': z.enum(['user', 'operator', 'admin']).optional(),
  'x-rate-limit': z.looseObject({ limit: z.number(), seconds: z.number(), by: z.enum(['address', 'user']) }).optional(),
  parameters: z.array(Parameter).default([]),
  requestBody: z.looseObject({ required: z.boolean().default(false), content: Content }).optional(),
  responses: z.record(z.string(), Response),
})
const Scheme = z.looseObject({ type: z.string(), in: z.string().optional(), name: z.string().optional() })
const Document = z.looseObject({
  openapi: z.string().startsWith('3.1'),
  paths: z.record(z.string(), z.record(z.string(), Described)),
  components: z.looseObject({
    schemas: z.record(z.string(), Schema).default({}),
    securitySchemes: z.record(z.string(), Scheme).default({}),
  }),
})

export interface Operation extends z.infer<typeof Described> {
  /** `GET /api/auth/sessions/{id}` */
  name: string
  method: string
  path: string
}

export interface OpenApi {
  operations: readonly Operation[]
  components: Components
  schemes: Readonly<Record<string, z.infer<typeof Scheme>>>
  /** The served document, with all references resolved except those to schemas. */
  raw: Record<string, unknown>
}

/** Reads a served document. */
export function readOpenApi(served: unknown): OpenApi {
  const raw = inlined(served, served)
  if (!isRecord(raw)) throw new Error('the document is no object')
  const { paths, components } = Document.parse(raw)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const name = `${method.toUpperCase()} ${path}`
      return { ...described, name, method: method.toUpperCase(), path }
    }),
  )
  return { operations, components: components.schemas, schemes: components.securitySchemes, raw }
}

const POINTER = /^#\/components\/(?!schemas\/)([\w.-]+)\/([\w.-]+)$/

/** Schemas keep their references: they may be recursive, and a component's name shows which values belong together. */
function inlined(root: unknown, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => inlined(root, each))
  if (!isRecord(node)) return node
  const [, kind, name] = POINTER.exec(String(node.$ref)) ?? []
  if (kind === undefined || name === undefined)
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(root, value)]))
  const found = at(at(at(root, 'components'), kind), name)
  if (found === undefined) throw new Error(`${node.$ref} is not in the document`)
  return inlined(root, found)
}

function at(node: unknown, key: string): unknown {
  return isRecord(node) ? node[key] : undefined
}

/** The declared response of an operation for a status. */
export function responseOf({ responses }: Operation, status: number): z.infer<typeof Response> | undefined {
  return responses[String(status)]
}

/** The schema of the body, and its example in the document. */
export function bodyOf({ requestBody }: Operation): { schema: Schema; example?: unknown } | undefined {
  return requestBody?.content['application/json']
}
