import { expect, test } from 'vitest'
import { functions } from '../../../functions/index.ts'
import { testApp } from '../../app.ts'
import { lint } from '../../lint.ts'
import { answered } from '../answers.ts'
import { OpenApi, type Operation, operationsOf } from './document.ts'

const app = await testApp(functions)
const served = await answered(await app.request('GET', '/api/openapi.json'), 200)

test('the linter accepts the document', async () => {
  expect(await lint(OpenApi.parse(served))).toEqual([])
})

/** Returns the document with one changed operation. */
function damaged(name: string, change: (operation: Operation) => void): OpenApi {
  const copy = OpenApi.parse(structuredClone(served))
  const operation = operationsOf(copy).get(name)
  if (!operation) throw new Error(`${name} is not in the document`)
  change(operation)
  return copy
}

const RUN = 'POST /api/updates/run'
test.each<[string, OpenApi, string]>([
  [
    'an example that does not match its schema',
    damaged(RUN, ({ requestBody }) =>
      Object.assign(requestBody?.content['application/json'] ?? {}, { example: { target: 1 } }),
    ),
    'no-invalid-media-type-examples',
  ],
  [
    'a dangling reference',
    damaged(RUN, ({ requestBody }) =>
      Object.assign(requestBody?.content['application/json'] ?? {}, {
        schema: { $ref: '#/components/schemas/Nothing' },
      }),
    ),
    'no-unresolved-refs',
  ],
  [
    'an undescribed path parameter',
    damaged('GET /api/updates/jobs/:id', (operation) => Object.assign(operation, { parameters: [] })),
    'path-parameters-defined',
  ],
  [
    'two operations with one name',
    damaged(RUN, (operation) => Object.assign(operation, { operationId: 'postAuthLogin' })),
    'operation-operationId-unique',
  ],
  [
    'an operation without an access rule',
    damaged(RUN, (operation) => Reflect.deleteProperty(operation, 'security')),
    'security-defined',
  ],
])('the linter finds %s', async (_, broken, rule) => {
  expect((await lint(broken)).join('\n')).toContain(rule)
})
