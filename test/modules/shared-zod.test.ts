import { expect, onTestFinished, test } from 'vitest'
import { functions } from '../../functions/index.ts'
import { record, saying, withModules } from '../functions/modules/module.ts'
import { testApp } from '../app.ts'

const backend = (work: string) =>
  saying('bad', 'x')
    .replace('=> [', `=> { ${work}; return [`)
    .replace(/\]\s*$/, ']}')

/** The service with one module that does this when it declares its endpoints. */
async function problemOf(work: string) {
  const app = await withModules([record('bad', { backend: 'backend.mjs' })], {
    files: { 'bad/backend.mjs': backend(work) },
  })
  onTestFinished(() => app.services.modules.stop())
  const refused = await app.request('POST', '/api/auth/login', { body: { username: 1 } })
  return { problem: app.services.modules.problem('bad'), refused: await refused.json() }
}

/** The refusal of a service without modules. */
async function plain() {
  const app = await testApp(functions)
  const refused = await app.request('POST', '/api/auth/login', { body: { username: 1 } })
  return refused.json()
}

const ENGLISH = '{ localeError: () => "in English" }'

test.each([
  ['z.config', `z.config(${ENGLISH})`],
  ['z.config', `z.z.config(${ENGLISH})`],
  ['z.config', `z.default.config(${ENGLISH})`],
  ['z.core.config', `z.core.config(${ENGLISH})`],
  ['z.globalRegistry.clear', 'z.globalRegistry.clear()'],
  ['z.globalRegistry.remove', 'z.core.globalRegistry.remove(z.string())'],
])('a module that uses %s is left out, and the answers of the service stay the same: %s', async (name, work) => {
  expect(await problemOf(work)).toEqual({
    problem: { problem: 'load_failed', detail: expect.stringContaining(`${name} changerait les réponses`) },
    refused: await plain(),
  })
})

test.each([
  'z.config = () => {}',
  'z.core.globalConfig.localeError = () => "in English"',
  'z.core = {}',
  'z.z.string = undefined',
])('a module that assigns to its copy is left out: %s', async (work) => {
  expect(await problemOf(work)).toEqual({
    problem: { problem: 'load_failed', detail: expect.stringMatching(/read only|not extensible/) },
    refused: await plain(),
  })
})

test('a module describes its own schemas, and uses every kind of schema', async () => {
  const work = `z.string().meta({ id: 'Word' }).register(z.globalRegistry, { title: 'x' });
    z.object({ a: z.iso.datetime(), b: z.union([z.email(), z.coerce.number()]) }).extend({ c: z.custom(() => true) })`

  expect((await problemOf(work)).problem).toBeUndefined()
})
