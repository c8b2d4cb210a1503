import { expect, test } from 'vitest'
import { importsOf, sources, withoutComments } from './imports.ts'

const ENDPOINT = /\.(get|post|put|patch|delete|ws|task|command)\.ts$/
const MANIFEST = 'functions/index.ts'
/** The entries: they compose, and alone import the manifest. */
const ENTRIES = ['runtime/server.ts', 'runtime/fetch.ts', 'runtime/main.ts']
/** Which rooms a room may import from: downwards. The client is installed without the others, and the panel knows it alone. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  functions: ['functions', 'runtime', 'db'],
  runtime: ['runtime', 'db'],
  db: ['db'],
  client: ['client'],
  panel: ['panel', 'client'],
}
const ROUTES = 'panel/routes.ts'
/** The service answers at the panel's addresses; and from sources, builds the panel. In what is built, nothing is left of the latter. */
const MAY_IMPORT_BESIDES: Readonly<Record<string, string>> = {
  'functions/panel/page.get.ts': ROUTES,
  'runtime/asset-source.ts': 'packaging/panel-from-sources.ts',
}
/** `main.ts` and `fetch.ts` hand the environment on, `file.ts` asks who has started it; of `version.ts` the build puts a constant in the place. */
const MAY_READ_ENVIRONMENT = [
  'runtime/config.ts',
  'runtime/main.ts',
  'runtime/fetch.ts',
  'runtime/file.ts',
  'runtime/version.ts',
]
/** Where a clock is made. */
const MAY_READ_TIME = [...ENTRIES, 'runtime/log.ts']
const NO_NAMES = /^(utils?|helpers?|types|common|services?|domain|misc|shared)$/

/** What is wrong with one file of the service, as sentences. `path` is from the project's root. */
function wrongs(path: string, source: string): string[] {
  const [room = ''] = path.split('/')
  const code = withoutComments(source)
  const found: string[] = []
  for (const target of importsOf(path, code)) {
    const [targetRoom = ''] = target.split('/')
    const composes = ENTRIES.includes(path) && target === MANIFEST
    const isBelow = BELOW[room]?.includes(targetRoom) || MAY_IMPORT_BESIDES[path] === target
    if (!composes && !isBelow) found.push(`${path} imports ${target}, which is not below it`)
    if (ENDPOINT.test(target) && path !== MANIFEST) found.push(`${path} imports the endpoint ${target}`)
    if (target === MANIFEST && !composes) found.push(`${path} imports the manifest`)
    if (path.startsWith('db/migrations/')) found.push(`${path} imports ${target}: a migration imports nothing`)
    if (path === ROUTES) found.push(`${path} imports ${target}: Node reads it as plain data`)
  }
  if (/\bprocess\s*(\.\s*env\b|\[)/.test(code) && !MAY_READ_ENVIRONMENT.includes(path))
    found.push(`${path} reads the environment`)
  // People look at the panel now, with the clock of their own machine.
  if (room === 'panel') return [...found, ...badName(path)]
  if (/\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|[^\s(\w])/.test(code) && !MAY_READ_TIME.includes(path))
    found.push(`${path} reads the time`)
  return [...found, ...badName(path)]
}

function badName(path: string): string[] {
  const names = path.replace(/\.tsx?$/, '').split('/')
  return names.some((name) => NO_NAMES.test(name)) ? [`${path} is not named for what it holds`] : []
}

test('functions, runtime and db import downwards, no endpoint, and read neither time nor environment; the client imports itself, the panel both', () => {
  const files = sources('functions', 'runtime', 'db', 'client', 'panel')

  expect(files.length).toBeGreaterThan(30)
  expect(files.flatMap(([path, source]) => wrongs(path, source))).toEqual([])
})

test('the imports are really seen: the entry imports the manifest, and the manifest every endpoint', () => {
  const files = new Map(sources('functions', 'runtime'))
  const of = (path: string) => importsOf(path, files.get(path) ?? '')
  const endpoints = [...files.keys()].filter((path) => ENDPOINT.test(path))

  expect(of('runtime/server.ts')).toContain(MANIFEST)
  expect(
    of(MANIFEST)
      .filter((path) => ENDPOINT.test(path))
      .sort(),
  ).toEqual(endpoints.sort())
})

test('what is imported exists', () => {
  const files = sources('functions', 'runtime', 'db', 'client', 'panel', 'packaging')
  const known = new Set(files.map(([path]) => path))
  const missing = files.flatMap(([path, source]) =>
    importsOf(path, withoutComments(source)).filter((target) => /\.tsx?$/.test(target) && !known.has(target)),
  )

  expect(missing).toEqual([])
})

test('an area’s endpoints and nouns lie in its folder', () => {
  const loose = sources('functions')
    .map(([path]) => path)
    .filter((path) => path.split('/').length !== 3 && path !== MANIFEST)

  expect(loose).toEqual([])
})

test.each([
  ['functions/auth/login.post.ts', `import { saveUser } from '../../db/users.ts'`],
  ['functions/auth/login.post.ts', `import type { Host } from '../../runtime/host.ts'`],
  ['functions/hypervisor/host.get.ts', `import { listContainers } from '../updates/containers.ts'`],
  ['functions/index.ts', `import login from './auth/login.post.ts'`],
  ['runtime/server.ts', `import { functions } from '../functions/index.ts'\nconst clock = () => new Date()`],
  ['runtime/fetch.ts', `import { functions } from '../functions/index.ts'`],
  ['runtime/jobs.ts', `import { addJob } from '../db/jobs.ts'\nimport { z } from 'zod'`],
  ['runtime/jobs.ts', 'const at = new Date(seconds * 1000)\nconst began = performance.now()'],
  ['runtime/jobs.ts', '// Date.now() and process.env are not for here\n/* import x from "../functions/index.ts" */'],
  ['runtime/config.ts', 'const { env } = process\nread(process.env)'],
  ['db/users.ts', `import type { Database } from './client.ts'`],
  ['client/panel.ts', `import type { Operations } from './operations.ts'`],
  ['panel/wire/panel.ts', `import { createPanel } from '../../client/index.ts'\nconst at = Date.now()`],
  ['panel/main.tsx', `import { Shell } from './parts/shell.tsx'`],
  ['functions/panel/page.get.ts', `import { ROUTES } from '../../panel/routes.ts'`],
])('the check lets pass, in %s: %j', (path, source) => {
  expect(wrongs(path, source)).toEqual([])
})

test.each([
  ['runtime/app.ts', `import { parseTarget } from '../functions/updates/target.ts'`, 'not below'],
  ['runtime/app.ts', `import type { Target } from '../functions/updates/target.ts'`, 'not below'],
  ['runtime/server.ts', `import { parseTarget } from '../functions/updates/target.ts'`, 'not below'],
  ['db/users.ts', `import { timestamp } from '../runtime/clock.ts'`, 'not below'],
  ['db/users.ts', `export { timestamp } from '../runtime/clock.ts'`, 'not below'],
  ['db/users.ts', `import '../runtime/clock.ts'`, 'not below'],
  ['db/users.ts', `const clock = await import("../runtime/clock.ts")`, 'not below'],
  ['db/users.ts', `import {\n  timestamp,\n} from '../runtime/clock.ts'`, 'not below'],
  ['client/panel.ts', `import type { functions } from '../functions/index.ts'`, 'not below'],
  ['runtime/jobs.ts', `import type { Event } from '../client/topics.ts'`, 'not below'],
  ['runtime/app.ts', `import { buildPanel } from '../packaging/panel.ts'`, 'not below'],
  ['panel/wire/panel.ts', `import type { functions } from '../../functions/index.ts'`, 'not below'],
  ['panel/main.tsx', `import { VERSION } from '../runtime/version.ts'`, 'not below'],
  ['functions/panel/page.get.ts', `import { PAGES } from '../../panel/pages.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import { ROUTES } from '../../panel/routes.ts'`, 'not below'],
  ['panel/routes.ts', `import { PAGES } from './pages.ts'`, 'plain data'],
  ['panel/parts/helpers.tsx', '', 'named'],
  ['functions/auth/cookie.ts', `import { testApp } from '../../test/app.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import { startDemoHost } from '../../demo/host.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import login from './login.post.ts'`, 'the endpoint'],
  ['functions/modules/list.get.ts', `import run from '../updates/run.post.ts'`, 'the endpoint'],
  ['functions/updates/apt.ts', `import output from './output.ws.ts'`, 'the endpoint'],
  ['functions/auth/cookie.ts', `import { functions } from '../index.ts'`, 'the manifest'],
  ['runtime/jobs.ts', `import { jobKinds } from '../functions/index.ts'`, 'the manifest'],
  ['db/migrations/0002-more.ts', `import { x } from '../client.ts'`, 'a migration imports nothing'],
  ['runtime/jobs.ts', 'if (process.env.DEBUG) log()', 'the environment'],
  ['runtime/jobs.ts', `if (process['env'].DEBUG) log()`, 'the environment'],
  ['functions/auth/cookie.ts', 'const at = Date.now()', 'the time'],
  ['db/users.ts', 'const at = new Date().toISOString()', 'the time'],
  ['functions/updates/utils.ts', '', 'named'],
  ['runtime/helpers/text.ts', '', 'named'],
])('the check finds, in %s: %j', (path, source, expected) => {
  expect(wrongs(path, source)).toContainEqual(expect.stringContaining(expected))
})
