import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { transform } from 'esbuild'
import { publint } from 'publint'
import { expect, test } from 'vitest'
import { buildClient } from '../../packaging/client-package.ts'
import { currentTypes } from '../../packaging/client-types.ts'
import { temporaryFolder } from '../db/folder.ts'
import { sources } from '../imports.ts'
import { installClient, ROOT } from './installed.ts'

const MAX_BYTES = 4 * 1024

test('the types match the OpenAPI document; `npm run client:types` updates them', async () => {
  expect(await readFile(join(ROOT, 'client/operations.ts'), 'utf8')).toBe(await currentTypes())
})

test('the client has at most 4 KiB and imports nothing', async () => {
  const folder = await temporaryFolder()
  await buildClient(folder)

  const module = await readFile(join(folder, 'index.js'), 'utf8')
  const { code } = await transform(module, { minify: true, format: 'esm' })

  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES)
  expect(module).not.toMatch(/\b(import|require)\b/)
})

test('the sources import no package and use nothing that only Node has', () => {
  const found = sources('client').flatMap(([path, source]) =>
    [...source.matchAll(/\bfrom '([^.][^']*)'|\b(process|Buffer|require)\b\s*[.(]/g)].map(
      ([what]) => `${path}: ${what}`,
    ),
  )

  expect(found).toEqual([])
})

test('the packed client is a valid package', { timeout: 60_000 }, async () => {
  const { installed } = await installClient()

  const { messages } = await publint({ pkgDir: installed, strict: true, pack: false })

  expect(messages).toEqual([])
  expect(await readdir(installed)).toEqual(expect.arrayContaining(['LICENSE', 'index.d.ts']))
  expect(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')).version).toBe(
    JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version,
  )
})

const COMMON = { target: 'es2022', strict: true, skipLibCheck: false, noEmit: true }

test.each([
  [
    'a program of Node',
    ['compile-time.ts', 'follow-upgrade.ts'],
    { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] },
  ],
  [
    'a page with a bundler',
    ['compile-time.ts'],
    { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
  ],
])('the package’s types compile in %s', { timeout: 60_000 }, async (_, files, options) => {
  const { project, copy, write } = await installClient()
  const compile = (): Promise<string> =>
    new Promise((resolve) => {
      execFile(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], (_error, stdout) => resolve(stdout))
    })
  await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...COMMON, ...options }, files }))
  await copy('examples/follow-upgrade.ts', 'follow-upgrade.ts')
  const calls = await readFile(join(ROOT, 'test/client/compile-time.ts'), 'utf8')
  const installed = calls.replace('../../client/index.ts', 'ops-panel-client')
  await write('compile-time.ts', installed)

  expect(await compile()).toBe('')

  await write('compile-time.ts', installed.replaceAll('@ts-expect-error', ''))
  const errors = (await compile()).match(/: error TS/g) ?? []
  expect(errors.length).toBe((installed.match(/@ts-expect-error/g) ?? []).length)
})
