import { expect, onTestFinished, test, vi } from 'vitest'
import { areas, functions } from '../../../functions/index.ts'
import { type ErrorCode, ERRORS, fail } from '../../../functions/services.ts'
import { TRANSPORT_CODES } from '../../../runtime/function.ts'
import { createHost } from '../../../ssh/host.ts'
import { mount, testApp } from '../../app.ts'
import { answered } from '../answers.ts'
import { codesIn, componentOf, OpenApi, type Operation, operationsOf } from './document.ts'

const title = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const named = functions.filter((fn) => fn.document !== false).map((fn) => [title(fn), fn] as const)
const codes = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS)

/** All functions answer, also those that a configuration turns on. */
const env = {
  PANEL_OIDC_ISSUER: 'https://id.example',
  PANEL_OIDC_CLIENT_ID: 'ops-panel',
  PANEL_PUBLIC_URL: 'https://panel.example',
  PANEL_PASSKEY_SIGN_IN: 'on',
}
const app = await testApp(functions, { env })
const served = await answered(await app.request('GET', '/api/openapi.json'), 200)
const document = OpenApi.parse(served)
const operations = operationsOf(document)

function operationOf(name: string): Operation {
  const found = operations.get(name)
  if (!found) throw new Error(`${name} is not in the document`)
  return found
}

test('the document lists every function except the panel and redirects, which only browsers use', () => {
  expect(functions.filter((fn) => fn.document === false).map(title)).toEqual([
    'GET /',
    'GET /api/docs/',
    'GET /api/module-pages/:id/:ticket/:file',
    'GET /panel/:file',
  ])
  expect(document.openapi).toBe('3.1.0')
  expect([...operations.keys()].sort()).toEqual(named.map(([name]) => name).sort())
})

test('the document is built once and is the same each time', async () => {
  const again = await app.services.documents.openApi()

  expect(await answered(await app.request('GET', '/api/openapi.json'), 200)).toEqual(served)
  expect(await app.services.documents.openApi()).toBe(again)
})

test.each(['/api/openapi.json', '/api/asyncapi.json'])(
  '%s is written once, however often it is asked for',
  async (path) => {
    await answered(await app.request('GET', path), 200)
    const stringify = vi.spyOn(JSON, 'stringify')
    onTestFinished(() => stringify.mockRestore())

    await answered(await app.request('GET', path), 200)

    expect(stringify).not.toHaveBeenCalled()
  },
)

test.each(named)('%s lists exactly the codes that the pipeline lets through', async (name, fn) => {
  let thrown: ErrorCode = 'internal'
  const throwing = {
    ...fn,
    async precondition() {
      throw fail(thrown)
    },
  }
  const { request } = mount([throwing], app.services)
  const authorization = `Bearer ${await app.tokenFor('admin')}`
  const passed: string[] = []
  for (const [at, code] of codes.entries()) {
    thrown = code
    const headers = { authorization, 'x-forwarded-for': `192.0.2.${at}` }
    const response = await request(fn.path.replace(/:\w+/g, '1'), { method: fn.method, headers })
    if ((await response.text()).includes(`"code":"${code}"`)) passed.push(code)
  }

  const documented = codesIn(operationOf(name))
  expect([...documented.keys()].sort()).toEqual([...new Set([...passed, ...TRANSPORT_CODES])].sort())
  for (const [code, status] of documented) expect([code, status]).toEqual([code, ERRORS[OneOf(code)][0]])
})

function OneOf(code: string): ErrorCode {
  const found = codes.find((each) => each === code)
  if (!found) throw new Error(`${code} is no code`)
  return found
}

test.each(named)('%s states who may call it and how often', (name, { auth, rateLimit, request }) => {
  const operation = operationOf(name)
  const cookies = Object.keys(request?.cookies?.shape ?? {})

  expect(operation['x-role']).toBe(auth === 'none' || auth === 'optional' ? undefined : auth)
  expect(operation.security.some((each) => 'accessToken' in each)).toBe(auth !== 'none')
  expect(operation.security.some((each) => Object.keys(each).length === 0)).toBe(auth === 'optional')
  expect(operation.security.some((each) => cookies.every((cookie) => cookie in each))).toBe(
    cookies.length > 0 || operation.security.length > 0,
  )
  const limit = rateLimit && { limit: rateLimit.limit, seconds: rateLimit.seconds, by: rateLimit.by }
  expect(operation['x-rate-limit']).toEqual(limit || undefined)
})

test.each(named)('%s has its parameters, its body and its responses', (name, fn) => {
  const { parameters, requestBody, responses } = operationOf(name)
  const { query, cookies, body } = fn.request ?? {}
  const named = (place: string) => parameters.filter((each) => each.in === place).map((each) => each.name)

  expect(named('path')).toEqual(Array.from(fn.path.matchAll(/:(\w+)/g), ([, param]) => param))
  expect(named('query')).toEqual(Object.keys(query?.shape ?? {}))
  expect(named('cookie')).toEqual(Object.keys(cookies?.shape ?? {}))
  expect(requestBody !== undefined).toBe(body !== undefined)
  const { status = 200, contentType = 'application/json' } = fn
  const wanted = typeof status === 'number' ? [status] : Object.values(status)
  for (const each of wanted) expect(Object.keys(responses[each]?.content ?? {})).toEqual([contentType])
  expect(Object.keys(responses).filter((each) => each < '300')).toEqual([
    String(typeof status === 'number' ? status : 200),
  ])
})

test.each(named)('%s has a description, in an area with a description', (name, fn) => {
  const { summary, description, tags, responses } = operationOf(name)

  expect(summary).toBe(fn.summary)
  expect(description).toContain(fn.description)
  expect(tags.map((tag) => areas[tag])).toEqual([expect.stringMatching(/\.$/)])
  // The documents are their own example.
  if (tags[0] !== 'documents' && !fn.contentType) {
    const [, answer] = Object.entries(responses).find(([status]) => status < '300') ?? []
    expect(answer?.content['application/json']?.example).toBeDefined()
  }
})

test('each operation has a unique name, built from its method and path', () => {
  const names = [...operations.values()].map(({ operationId }) => operationId)

  expect(names).toEqual([...new Set(names)])
  for (const name of names) expect(name).toMatch(/^(get|post|put|patch|delete)([A-Z][a-z]*)+$/)
  expect(operationOf('POST /api/auth/login').operationId).toBe('postAuthLogin')
  expect(operationOf('GET /api/updates/jobs/:id/output').operationId).toBe('getUpdatesJobsByIdOutput')
})

test.each([
  ['GET /api/updates/jobs/:id', 'JobId'],
  ['POST /api/updates/jobs/:id/cancel', 'JobId'],
  ['DELETE /api/auth/sessions/:id', 'SessionId'],
  ['POST /api/modules/:id/enable', 'ModuleId'],
  ['GET /api/registry/deployments/:id', 'DeploymentId'],
  ['POST /api/hypervisor/containers/:vmid/:action', 'Vmid'],
  ['GET /api/hypervisor/tasks/:task', 'TaskId'],
])('the parameter of %s is a %s, as in responses', (name, component) => {
  const [parameter] = operationOf(name).parameters

  expect(componentOf(parameter?.schema)).toBe(component)
  expect(document.components.schemas[component]).toBeDefined()
})

test('the wizard accepts the key in the form in which it is shown', () => {
  const shown = operationOf('POST /api/install/check').responses['200']?.content['application/json']?.schema
  const wanted = operationOf('POST /api/install').requestBody?.content['application/json']?.schema
  const key = { $ref: '#/components/schemas/HostKey' }

  expect(shown).toMatchObject({ properties: { ssh_host_key: { anyOf: [key, { const: '' }] } } })
  const body = { properties: { ssh_host_key: key }, required: expect.arrayContaining(['ssh_host_key']) }
  expect(wanted).toMatchObject({ anyOf: [body, body] })
})

test('every refused rate has Retry-After, and every response has its request id', () => {
  for (const operation of operations.values()) {
    for (const { headers } of Object.values(operation.responses)) expect(headers).toHaveProperty('X-Request-Id')
    const tooMany = operation.responses['429']
    expect(tooMany === undefined).toBe(operation['x-rate-limit'] === undefined)
    if (tooMany) expect(tooMany.headers).toHaveProperty('Retry-After')
  }
})

test('a status that only sometimes has Retry-After does not promise it', async () => {
  const body = { username: 'alice', password: 'secret' }
  const { services } = await testApp(functions, { ssh: { host: '' } })
  const { request } = mount(functions, { ...services, host: createHost(services) })
  const nowhere = await request('/api/auth/login', { method: 'POST', body: JSON.stringify(body) })

  expect(nowhere.status).toBe(503)
  expect(nowhere.headers.get('retry-after')).toBeNull()
  expect(operationOf('POST /api/auth/login').responses['503']?.headers['Retry-After']).toEqual({
    $ref: '#/components/headers/Retry-After-Perhaps',
  })
})

test('a response may contain only declared fields', () => {
  const open = [...operations].filter(([, { responses }]) =>
    JSON.stringify(responses).includes('"additionalProperties":{}'),
  )

  expect(open.map(([name]) => name).sort()).toEqual([
    'GET /api/asyncapi.json',
    'GET /api/dashboard/layout',
    'GET /api/openapi.json',
  ])
})

test('the document describes values that handlers validate themselves', () => {
  const query = operationOf('GET /api/audit').parameters.find(({ name }) => name === 'limit')
  const preferences = operationOf('PATCH /api/auth/preferences').requestBody?.content['application/json']

  expect(query?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 500, default: 100 })
  expect(preferences?.schema).toMatchObject({ properties: { lang: { type: 'string', enum: ['fr', 'en'] } } })
})
