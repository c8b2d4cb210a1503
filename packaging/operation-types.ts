import * as z from 'zod'
import { comment, type Schema, schemaType } from './schema-type.ts'

/** The part of an OpenAPI document that this module reads. `schemaType` reads the schemas, and checks them. */
const AnySchema = z.custom<Schema>((value) => typeof value === 'object' && value !== null)
const Content = z.record(z.string(), z.object({ schema: AnySchema }))
const Operation = z.object({
  summary: z.string().optional(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional(), schema: AnySchema }))
    .default([]),
  requestBody: z.object({ required: z.boolean().optional(), content: Content }).optional(),
  responses: z.record(z.string(), z.object({ content: Content.optional() })),
})
type Operation = z.infer<typeof Operation>
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), AnySchema) }),
})

const HEAD = `// Written by \`npm run client:types\` from the service's OpenAPI document: not by hand.
`

/** Returns a module of types: the request, the response and the error codes of each operation. */
export function operationTypes(document: unknown): string {
  const { paths, components } = Document.parse(document)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )
  const shared = sharedCodes(operations.map(([, operation]) => operation))
  const named = Object.entries(components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${schemaType(schema)}\n`)
  return [
    HEAD,
    ...named,
    `/** The error codes of every operation. */\nexport type AnyCode = ${union(shared)}\n`,
    '/** The request, the response and the error codes of each operation. */\nexport interface Operations {',
    ...operations.map(([name, operation]) => member(name, operation, shared)),
    '}\n',
  ].join('\n')
}

function member(name: string, operation: Operation, shared: readonly string[]): string {
  const own = codes(operation).filter((code) => !shared.includes(code))
  return `${comment(operation.summary)}${JSON.stringify(name)}: {
    ${parameters('params', 'path', operation)}${parameters('query', 'query', operation)}${body(operation)}answer: ${answer(name, operation)}
    code: ${own.length > 0 ? `${union(own)} | ` : ''}AnyCode
  }`
}

function parameters(key: string, place: string, { parameters }: Operation): string {
  const here = parameters.filter((parameter) => parameter.in === place)
  if (here.length === 0) return ''
  const properties = Object.fromEntries(here.map(({ name, schema }) => [name, schema]))
  const required = here.filter((parameter) => parameter.required).map(({ name }) => name)
  return `${key}${required.length > 0 ? '' : '?'}: ${schemaType({ type: 'object', properties, required })}\n`
}

function body({ requestBody }: Operation): string {
  if (!requestBody) return ''
  return `body${requestBody.required ? '' : '?'}: ${schemaType(only(requestBody.content))}\n`
}

function answer(name: string, { responses }: Operation): string {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  if (answers.length === 0) throw new Error(`${name} has no answer`)
  return [...new Set(answers.map(([, { content }]) => (content ? schemaType(only(content)) : 'undefined')))].join(' | ')
}

/** The schema of the only content type that a request or a response has. */
function only(content: z.infer<typeof Content>): Schema {
  const [first, ...others] = Object.values(content)
  if (!first || others.length > 0) throw new Error('a body has one kind of content')
  return first.schema
}

/** The codes of an operation's errors, sorted. */
function codes({ responses }: Operation): string[] {
  const found = Object.values(responses).flatMap(({ content }) => {
    const { code } = content?.['application/json']?.schema.properties ?? {}
    return z.array(z.string()).parse(code?.enum ?? (code && 'const' in code ? [code.const] : []))
  })
  return [...new Set(found)].sort()
}

function sharedCodes(operations: readonly Operation[]): string[] {
  const [first, ...others] = operations.map(codes)
  return (first ?? []).filter((code) => others.every((list) => list.includes(code)))
}

function union(words: readonly string[]): string {
  return words.length > 0 ? words.map((word) => JSON.stringify(word)).join(' | ') : 'never'
}
