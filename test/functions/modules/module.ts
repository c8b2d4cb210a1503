import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type NewModule, saveModule } from '../../../db/modules.ts'
import { functions } from '../../../functions/index.ts'
import { START, testApp } from '../../app.ts'
import type { ForgeRepository } from '../../forge.ts'

export const NOW = START.toISOString()

/** A module's record, without code by default. */
export const record = (id: string, more: Partial<NewModule> = {}): NewModule => ({
  id,
  name: `Le module ${id}`,
  description: 'Un module.',
  version: '1.0.0',
  backend: null,
  nav_label: null,
  nav_icon: null,
  nav_href: null,
  nav_order: 100,
  repository: null,
  commit: null,
  tag: null,
  files: '[]',
  ...more,
})

/**
 * A folder that is removed at the end of the test. Because of its name, vitest leaves its files to Node's own import.
 */
export async function temporaryFolder(): Promise<string> {
  const above = await mkdtemp(join(tmpdir(), 'ops-panel-modules-'))
  onTestFinished(() => rm(above, { recursive: true, force: true }))
  const folder = join(above, 'node_modules')
  await mkdir(folder)
  return folder
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

/** Returns the code of a module with one endpoint, which answers with this word. */
export const saying = (id: string, word: string) => `export default ({ z, defineFunction }) => [
  defineFunction({
    method: 'GET',
    path: '/api/modules/${id}/word',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'user',
    rateLimit: { limit: 60, seconds: 60, by: 'user' },
    response: z.object({ word: z.string() }),
    handler: () => ({ word: '${word}' }),
  }),
]
`

/** Returns a module's repository: an endpoint that returns a word, or other code. */
export const repository = (id: string, version: string, code = saying(id, version)) => ({
  name: id,
  branches: {
    main: {
      files: { 'module.json': JSON.stringify({ id, name: id, version, has_backend: true }), 'backend.mjs': code },
    },
  },
})

/** The same with a page of two files, each of which holds the version. */
export function withPage({ name, branches }: ReturnType<typeof repository>, version: string) {
  const { 'module.json': descriptor, ...rest } = branches.main.files
  const page = { files: ['page/index.html', 'page/page.js'] }
  const files = { 'module.json': JSON.stringify({ ...JSON.parse(descriptor), page }), ...rest }
  return { name, branches: { main: { files: { ...files, 'page/index.html': version, 'page/page.js': version } } } }
}

const EXAMPLE = new URL('../../../examples/module-hello/', import.meta.url)

/** The example module as a forge serves it. */
export async function exampleRepository(): Promise<ForgeRepository> {
  const read = async (name: string) => [name, await readFile(new URL(name, EXAMPLE))] as const
  const files = Object.fromEntries(await Promise.all(['module.json', 'backend.mjs'].map(read)))
  return { name: 'hello', branches: { master: { files } } }
}

/** All functions of the service, with these modules installed before the start, and their files in a folder. */
export async function withModules(
  modules: readonly NewModule[],
  { files = {}, env = {} }: { files?: Readonly<Record<string, string>>; env?: Record<string, string> } = {},
) {
  const folder = await temporaryFolder()
  await writeFiles(folder, files)
  const app = await testApp(functions, {
    env: { PANEL_MODULES_DIR: folder, ...env },
    prepare: async (db) => void (await db.batch(modules.map((module) => saveModule(module, NOW)))),
  })
  return { ...app, folder }
}
