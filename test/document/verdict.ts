import type { Answer } from '../property/client.ts'
import { isRecord } from './json-schema.ts'
import { type OpenApi, type Operation, responseOf } from './openapi.ts'
import { schemaCheckOf } from './schema-check.ts'

export type Verdict = ReturnType<typeof createVerdict>

/** Statuses that a valid request never gets: those of an invalid request or of an internal failure. */
const WRONG_REQUEST = new Set([400, 405, 406, 408, 411, 413, 414, 415, 431, 500, 501])

/** Reports how answers differ from the document. */
export function createVerdict({ raw, schemes }: OpenApi, { stateCodes = [] }: { stateCodes?: readonly string[] } = {}) {
  const check = schemaCheckOf(raw, { closed: true })

  /** The checks of every answer: status, content type, headers, body. */
  const answer = (operation: Operation, { status, headers, body }: Answer): string[] => {
    const promised = responseOf(operation, status)
    if (!promised) return [`status ${status} is not declared`]
    const wrong: string[] = []
    for (const [name, { required, schema }] of Object.entries(promised.headers)) {
      const value = [headers[name.toLowerCase()]].flat()[0]
      if (value === undefined && required) wrong.push(`no ${name} header`)
      const read = schema.type === 'integer' && /^\d+$/.test(value ?? '') ? Number(value) : value
      if (value !== undefined) wrong.push(...check.complaints(schema, read).map((each) => `header ${name}: ${each}`))
    }
    const names = new Set(Object.keys(promised.headers).map((name) => name.toLowerCase()))
    if (headers['set-cookie'] && !names.has('set-cookie')) wrong.push('a cookie is set that is not declared')
    const type = essence(headers['content-type'] ?? 'no content type')
    const [, content] = Object.entries(promised.content).find(([each]) => covers(essence(each), type)) ?? []
    if (!content) return [...wrong, `${type} is not declared for status ${status}`]
    const value = type === 'application/json' ? json(body) : body
    return [...wrong, ...check.complaints(content.schema, value)]
  }

  /** Whether the operation always requires a token, so that a valid request has one. */
  const hasToken = ({ security }: Operation) =>
    security.length > 0 && security.every((way) => Object.keys(way).some((name) => schemes[name]?.type === 'http'))

  return {
    answer,
    /** A valid request may be refused only because of the state of the service. */
    toValid(operation: Operation, got: Answer): string[] {
      const isAccused = WRONG_REQUEST.has(got.status) || (got.status === 401 && hasToken(operation))
      return [
        ...answer(operation, got),
        ...(isAccused && !stateCodes.includes(codeOf(got) ?? '')
          ? [`a right request was refused as a wrong one with ${got.status}`]
          : []),
      ]
    },
    toBroken(operation: Operation, got: Answer, expected: { status: number; first: boolean }): string[] {
      const wrong = answer(operation, got)
      if (got.status < 400) wrong.push(`a wrong request succeeded with ${got.status}`)
      else if (got.status >= 500) wrong.push(`a wrong request was a failure, ${got.status}`)
      else if (got.status !== expected.status && (expected.first || got.status !== 429))
        wrong.push(`refused with ${got.status} rather than ${expected.status}`)
      return wrong
    },
  }
}

/** Whether a declared media type, which may be a range, covers this one. */
function covers(declared: string, type: string): boolean {
  return declared.endsWith('/*') ? type.startsWith(declared.slice(0, -1)) : declared === type
}

/** A media type without its parameters. */
function essence(type: string): string {
  return type.replace(/;.*/, '').trim().toLowerCase()
}

export function codeOf({ body }: Answer): string | undefined {
  const value = json(body)
  return isRecord(value) && typeof value.code === 'string' ? value.code : undefined
}

/** Parses a text; undefined, which no schema allows, if it is not JSON. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
