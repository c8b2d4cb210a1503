import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { MODULE_TYPES } from '../../functions/authors/module-types.ts'
import { skeleton } from '../../functions/authors/skeleton.ts'
import { buildModuleTypes } from '../../packaging/module-package.ts'

const ROOT = join(import.meta.dirname, '../..')
const STRICT = {
  strict: true,
  noEmit: true,
  checkJs: true,
  allowJs: true,
  module: 'nodenext',
  target: 'es2024',
  types: [],
  lib: ['es2024', 'dom'],
}

/** Compiles the files in a folder; returns what the compiler says. */
async function compiled(files: Readonly<Record<string, string>>, options: object = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-types-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const config = { compilerOptions: { ...STRICT, ...options }, include: ['*.mjs', '*.ts'] }
  for (const [name, text] of Object.entries({ ...files, 'tsconfig.json': JSON.stringify(config) }))
    await writeFile(join(folder, name), text)
  const run = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: folder })
  return run.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
}

const TYPES = { 'ops-panel-module.d.ts': MODULE_TYPES }

test('the example and a new module have the types of the kit', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-example-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(join(ROOT, 'examples/module-hello'), folder, { recursive: true })
  const example = await readFile(join(folder, 'backend.mjs'), 'utf8')

  expect(await compiled({ ...TYPES, 'backend.mjs': example, 'new.mjs': skeleton('new')['backend.mjs'] ?? '' })).toBe('')
})

test('mistakes of an author are errors of the compiler', { timeout: 120_000 }, async () => {
  const declared = (text: string) => `/** @import { Kit } from './ops-panel-module.d.ts' */
/** @param {Kit} kit */
export default ({ z, defineFunction, defineTask, definePage }) => [${text}]`
  const found = await compiled({
    ...TYPES,
    'limit.mjs': declared(
      `defineFunction({ method: 'GET', path: '/api/modules/a/b', auth: 'user', ratelimit: false, response: z.null(), handler: () => null })`,
    ),
    'answer.mjs': declared(
      `defineFunction({ method: 'GET', path: '/api/modules/a/b', auth: 'user', rateLimit: false, response: z.object({ n: z.number() }), handler: () => ({ n: 'x' }) })`,
    ),
    'body.mjs': declared(
      `defineFunction({ method: 'POST', path: '/api/modules/a/b', auth: 'user', rateLimit: false, audit: false, request: { body: z.object({ n: z.number() }) }, response: z.string(), handler: ({ body }) => body.n })`,
    ),
    'task.mjs': declared(`defineTask({ name: 'a', run() {} })`),
    'page.mjs': declared(`definePage({ sections: [{ kind: 'tabel', from: 'GET x' }] })`),
    'good.mjs': declared(
      `defineFunction({ method: 'POST', path: '/api/modules/a/b', auth: 'user', rateLimit: false, audit: false, request: { body: z.object({ n: z.number() }) }, response: z.number(), handler: ({ body }) => body.n })`,
    ),
  })

  for (const file of ['limit', 'answer', 'body', 'task', 'page'])
    expect(found).toMatch(new RegExp(`^${file}\\.mjs`, 'm'))
  expect(found).not.toMatch(/^good\.mjs/m)
})

test('what the service gives its modules has these types', { timeout: 120_000 }, async () => {
  const source = (path: string) => JSON.stringify(join(ROOT, path))
  const found = await compiled(
    {
      ...TYPES,
      'real.ts': `import type { Context, Kit, Records, Section, Store, TaskContext } from './ops-panel-module.d.ts'
import type { Services } from ${source('functions/services.ts')}
import type { Context as RealContext, User } from ${source('runtime/context.ts')}
import type { ModuleKit } from ${source('modules/kit/kit.ts')}
import type { ModuleRecords, ModuleStore } from ${source('modules/kit/store.ts')}
import type { PageDeclaration } from ${source('modules/page-declaration.ts')}
import type * as z from 'zod'

type Real = RealContext<Services, User & { isAdmin: boolean }, string, string> & ModuleKit
declare const real: Real
export const context: Context = real
export const task: TaskContext = real
export const store: Store = real.store
export const back: ModuleStore = store
export const records: ModuleRecords = store.records('a')
export const other: Records = records
declare const section: Section
type Declared = z.input<typeof PageDeclaration>['sections'][number]
export const declared: Declared = section as Section
export const kinds: Section['kind'] extends Declared['kind'] ? (Declared['kind'] extends Section['kind'] ? true : false) : false = true
export type Names = keyof Kit
`,
    },
    { allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'], erasableSyntaxOnly: false },
  )
  expect(found).toBe('')
})

test('the package has the types and its description', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-package-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await buildModuleTypes(join(folder, 'module'))

  expect(await readFile(join(folder, 'module/index.d.ts'), 'utf8')).toBe(MODULE_TYPES)
  const about: unknown = JSON.parse(await readFile(join(folder, 'module/package.json'), 'utf8'))
  expect(about).toMatchObject({ name: 'ops-panel-module', types: './index.d.ts' })
})
