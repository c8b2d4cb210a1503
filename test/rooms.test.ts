import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, openImportsOf, sources, withoutComments } from './imports.ts'

const ENDPOINT = /\.(get|post|put|patch|delete|ws|task|command)\.ts$/
const MANIFEST = 'functions/index.ts'
/** Work without a request: tasks, commands and kinds of job. The manifest passes them on. */
const BACKGROUND = 'functions/background.ts'
const MANIFESTS = [MANIFEST, BACKGROUND]
/** The declarations of every endpoint import it: the services, and all error codes and audit actions. */
const SERVICES = 'functions/services.ts'
/** The entry points compose the service; only they import the manifest. */
const ENTRIES = ['serve/server.ts', 'serve/fetch.ts', 'serve/main.ts']
const GROUND = ['platform']
const BASE = ['runtime', 'db', ...GROUND]
/**
 * The rooms from which a room may import: downwards. The client is installed without the others, and the panel imports
 * only the client.
 */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  serve: [
    'cli',
    'functions',
    'jobs',
    'modules',
    'notifications',
    'openapi',
    'schedules',
    'sessions',
    'settings',
    'ssh',
    ...BASE,
  ],
  cli: BASE,
  functions: ['jobs', 'modules', 'notifications', 'openapi', 'schedules', 'sessions', 'settings', 'ssh', ...BASE],
  jobs: ['ssh', ...BASE],
  ssh: ['settings', ...BASE],
  modules: BASE,
  notifications: BASE,
  openapi: BASE,
  schedules: BASE,
  sessions: BASE,
  settings: BASE,
  runtime: ['db', ...GROUND],
  db: GROUND,
  platform: [],
  client: [],
  panel: ['client'],
}
const ROOMS = Object.keys(BELOW)
/** Rooms with one public file, which has the room's name. In the others, every file is public for the rooms above. */
const WITH_DOOR = ['cli', 'jobs', 'modules', 'notifications', 'openapi', 'schedules', 'sessions', 'settings', 'ssh']
const BACKEND = ROOMS.filter((room) => room !== 'client' && room !== 'panel')
/** They build, imitate and measure the service. They may import every room, and a room with a door through its door. */
const TOOLS = ['bench', 'demo', 'packaging']
/** A test may open every file. */
const ALL = [...ROOMS, ...TOOLS, 'examples', 'test']

const ROUTES = 'panel/routes.ts'
/** The script `packaging/client-types.ts` writes it. */
const GENERATED = 'client/operations.ts'
/**
 * The service answers at the panel's addresses and, from sources, builds the panel. A build contains nothing of the
 * latter.
 */
const MAY_IMPORT_BESIDES: Readonly<Record<string, string>> = {
  'functions/panel/page.get.ts': ROUTES,
  'platform/asset-source.ts': 'packaging/panel-from-sources.ts',
}
/** The tools that need an inner file of a room, and the reason. */
const MAY_PASS_DOORS: readonly { path: string; targets: readonly string[]; reason: string }[] = [
  {
    path: 'demo/scripts.ts',
    targets: ['jobs/folder-script.ts', 'jobs/program.ts', 'jobs/runner.ts', 'jobs/script.ts', 'ssh/identity-script.ts'],
    reason: 'the imitated host recognizes a script of the service by its exact text, which no room needs',
  },
  {
    path: 'demo/host.ts',
    targets: ['ssh/host-key.ts'],
    reason: 'the imitated host states its own key in the pinned form; a room only reads keys of hosts',
  },
]
/** The tools that build on all functions. */
const TOOLS_WITH_MANIFEST = ['bench/manifest.ts', 'packaging/access-table.ts', 'packaging/client-types.ts']
/** The code of installed modules is in the data folder, so its path is unknown before the start. */
const MAY_IMPORT_ANY = ['modules/loader.ts']
/**
 * `main.ts` and `fetch.ts` pass the environment on, `file.ts` finds out how it was started; the build puts a constant
 * into `program.ts`.
 */
const MAY_READ_ENVIRONMENT = [
  'platform/config.ts',
  'platform/program.ts',
  'serve/main.ts',
  'serve/fetch.ts',
  'serve/file.ts',
]
/** The files that create a clock. */
const MAY_READ_TIME = [...ENTRIES, 'platform/log.ts']
const NO_NAMES = /^(utils?|helpers?|types|common|services?|domain|misc|shared)$/

const doorOf = (room: string) => `${room}/${room}.ts`

/** Returns the violations of one file of the service, as sentences. `path` is relative to the project's root. */
function wrongs(path: string, source: string): string[] {
  const [room = ''] = path.split('/')
  const code = withoutComments(source)
  if (TOOLS.includes(room)) return wrongsOfTool(path, code)
  const found: string[] = []
  for (const target of importsOf(path, code)) {
    const [targetRoom = ''] = target.split('/')
    const composes = ENTRIES.includes(path) && target === MANIFEST
    const isWithin = targetRoom === room && ROOMS.includes(room)
    const isBelow = isWithin || BELOW[room]?.includes(targetRoom) || MAY_IMPORT_BESIDES[path] === target
    if (!composes && !isBelow) found.push(`${path} imports ${target}, which is not below it`)
    if (!isWithin && WITH_DOOR.includes(targetRoom) && target !== doorOf(targetRoom))
      found.push(`${path} imports ${target} past ${doorOf(targetRoom)}`)
    if (ENDPOINT.test(target) && !MANIFESTS.includes(path)) found.push(`${path} imports the endpoint ${target}`)
    const passesOn = path === MANIFEST && target === BACKGROUND
    if (MANIFESTS.includes(target) && !composes && !passesOn) found.push(`${path} imports the manifest`)
    if (path.startsWith('db/migrations/')) found.push(`${path} imports ${target}: a migration imports nothing`)
    if (path === ROUTES) found.push(`${path} imports ${target}: Node reads it as plain data`)
  }
  if (!MAY_IMPORT_ANY.includes(path))
    found.push(...openImportsOf(code).map((open) => `${path} imports what no test can read: ${open}`))
  if (/\bprocess\s*(\.\s*env\b|\[)/.test(code) && !MAY_READ_ENVIRONMENT.includes(path))
    found.push(`${path} reads the environment`)
  // The panel shows times by the clock of the user's machine.
  if (room === 'panel') return [...found, ...badName(path)]
  if (/\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|[^\s(\w])/.test(code) && !MAY_READ_TIME.includes(path))
    found.push(`${path} reads the time`)
  return [...found, ...badName(path)]
}

function wrongsOfTool(path: string, code: string): string[] {
  const found = openImportsOf(code).map((open) => `${path} imports what no test can read: ${open}`)
  for (const target of importsOf(path, code)) {
    const [targetRoom = ''] = target.split('/')
    const isListed = MAY_PASS_DOORS.some((each) => each.path === path && each.targets.includes(target))
    if (WITH_DOOR.includes(targetRoom) && target !== doorOf(targetRoom) && !isListed)
      found.push(`${path} imports ${target} past ${doorOf(targetRoom)}`)
    if (ENDPOINT.test(target)) found.push(`${path} imports the endpoint ${target}`)
    if ((target === MANIFEST && !TOOLS_WITH_MANIFEST.includes(path)) || target === BACKGROUND)
      found.push(`${path} imports the manifest`)
  }
  return found
}

function badName(path: string): string[] {
  if (path === SERVICES) return []
  const names = path.replace(/\.tsx?$/, '').split('/')
  return names.some((name) => NO_NAMES.test(name)) ? [`${path} is not named for what it holds`] : []
}

/** Returns the circles of a graph, each as the sorted names of its nodes (Tarjan). */
function circles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const [number, lowest] = [new Map<string, number>(), new Map<string, number>()]
  const [stack, found]: [string[], string[][]] = [[], []]
  const visit = (node: string): number => {
    const own = number.size
    number.set(node, own)
    lowest.set(node, own)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next) || (number.has(next) && !stack.includes(next))) continue
      const reached = number.has(next) ? (number.get(next) ?? own) : visit(next)
      lowest.set(node, Math.min(lowest.get(node) ?? own, reached))
    }
    if (lowest.get(node) === own) {
      const tied = stack.splice(stack.indexOf(node))
      if (tied.length > 1) found.push(tied.sort())
    }
    return lowest.get(node) ?? own
  }
  for (const node of edges.keys()) if (!number.has(node)) visit(node)
  return found
}

/** Returns which file imports which, types included. */
const importsIn = (files: readonly (readonly [path: string, source: string])[]) =>
  new Map(files.map(([path, source]) => [path, importsOf(path, withoutComments(source))]))

/** Returns which area of the functions imports which. */
function areasOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const area = (path: string) => /^functions\/([^/]+)\//.exec(path)?.[1]
  const areas = new Map<string, string[]>()
  for (const [path, targets] of imports) {
    const from = area(path)
    if (from === undefined) continue
    const to = targets.map(area).filter((each) => each !== undefined && each !== from)
    areas.set(from, [...(areas.get(from) ?? []), ...to.filter((each) => each !== undefined)])
  }
  return areas
}

const lines = (source: string) => source.trimEnd().split('\n').length

test('every room imports downwards and through doors, no room imports an endpoint, and none reads time or environment', () => {
  const files = sources(...ROOMS)

  expect(files.length).toBeGreaterThan(300)
  expect(files.flatMap(([path, source]) => wrongs(path, source))).toEqual([])
})

test('the tools import rooms through their doors, and every exception is needed', () => {
  const files = sources(...TOOLS)
  const imports = importsIn(files)
  const unused = MAY_PASS_DOORS.flatMap(({ path, targets }) =>
    targets.filter((target) => !imports.get(path)?.includes(target)).map((target) => `${path} ${target}`),
  )

  expect(files.length).toBeGreaterThan(60)
  expect(files.flatMap(([path, source]) => wrongs(path, source))).toEqual([])
  expect(unused).toEqual([])
})

test('no files import each other in a circle, types included, and no areas do', () => {
  const imports = importsIn(sources(...ALL))

  expect(circles(imports)).toEqual([])
  expect(circles(areasOf(imports))).toEqual([])
})

test('no written file has more than 300 lines', () => {
  const files = sources(...ROOMS, ...TOOLS).filter(([path]) => path !== GENERATED)

  expect(files.filter(([, source]) => lines(source) > 300).map(([path]) => path)).toEqual([])
})

test('in the backend a folder has at most 24 files, and half of the files have 60 lines or more', () => {
  const files = sources(...BACKEND)
  const inFolder = new Map<string, number>()
  for (const [path] of files) {
    const folder = posix.dirname(path)
    inFolder.set(folder, (inFolder.get(folder) ?? 0) + 1)
  }
  const sizes = files
    .filter(([path]) => !path.startsWith('functions/') && !path.startsWith('db/migrations/'))
    .map(([, source]) => lines(source))
    .sort((a, b) => a - b)

  expect([...inFolder].filter(([, count]) => count > 24).map(([folder]) => folder)).toEqual([])
  expect(sizes[Math.floor(sizes.length / 2)]).toBeGreaterThanOrEqual(60)
})

test('the runtime is small enough to be read in an hour', () => {
  const total = sources('runtime').reduce((sum, [, source]) => sum + lines(source), 0)

  expect(total).toBeLessThanOrEqual(2_600)
})

test('the check sees imports: the entry imports the manifest, and the manifest every endpoint', () => {
  const files = new Map(sources('functions', 'serve'))
  const of = (path: string) => importsOf(path, files.get(path) ?? '')
  const endpoints = [...files.keys()].filter((path) => ENDPOINT.test(path))

  expect(of('serve/server.ts')).toContain(MANIFEST)
  expect(
    MANIFESTS.flatMap(of)
      .filter((path) => ENDPOINT.test(path))
      .sort(),
  ).toEqual(endpoints.sort())
})

test('every imported file exists', () => {
  const files = sources(...ROOMS, ...TOOLS)
  const known = new Set(sources(...ALL).map(([path]) => path))
  const missing = files.flatMap(([path, source]) =>
    importsOf(path, withoutComments(source)).filter((target) => /\.(tsx?|mjs)$/.test(target) && !known.has(target)),
  )

  expect(missing).toEqual([])
})

test('the endpoints and nouns of an area are in its folder', () => {
  const loose = sources('functions')
    .map(([path]) => path)
    .filter((path) => path.split('/').length !== 3 && !MANIFESTS.includes(path) && path !== SERVICES)

  expect(loose).toEqual([])
})

test.each([
  ['panel/parts/palette-list.tsx', 'panel/parts/palette.tsx'],
  ['packaging/panel-from-sources.ts', 'platform/asset-source.ts'],
  ['demo/place.ts', 'demo/host.ts'],
  ['bench/child.ts', 'bench/job.ts'],
])('the check finds a circle that is planted from %s to %s', (from, to) => {
  const planted = `import type { Planted } from '${posix.relative(posix.dirname(from), to).replace(/^(?!\.)/, './')}'`
  const files = sources(...ALL).map(
    ([path, source]) => [path, path === from ? `${planted}\n${source}` : source] as const,
  )

  expect(circles(importsIn(files))).toEqual([expect.arrayContaining([from, to])])
})

test('the check finds a planted circle, of types too, and one of areas', () => {
  const types = importsIn([
    ['jobs/run.ts', `import type { Queue } from './queue.ts'`],
    ['jobs/queue.ts', `import { type Record } from './record.ts'`],
    ['jobs/record.ts', `import { run } from './run.ts'`],
    ['jobs/list.ts', `import { run } from './run.ts'`],
  ])
  const areas = importsIn([
    ['functions/checks/check.ts', `import { apt } from '../updates/apt.ts'`],
    ['functions/updates/apt.ts', ''],
    ['functions/updates/upgrade.ts', `import type { Check } from '../checks/finding.ts'`],
    ['functions/checks/finding.ts', ''],
  ])

  expect(circles(types)).toEqual([['jobs/queue.ts', 'jobs/record.ts', 'jobs/run.ts']])
  expect(circles(areas)).toEqual([])
  expect(circles(areasOf(areas))).toEqual([['checks', 'updates']])
})

test.each([
  ['functions/auth/login.post.ts', `import { saveUser } from '../../db/users.ts'`],
  ['functions/auth/login.post.ts', `import type { Host } from '../../ssh/ssh.ts'`],
  ['functions/checks/check-job.ts', `import { listContainers } from '../hypervisor/pct.ts'`],
  ['functions/index.ts', `import login from './auth/login.post.ts'`],
  ['serve/server.ts', `import { functions } from '../functions/index.ts'\nconst clock = () => new Date()`],
  ['serve/fetch.ts', `import { functions } from '../functions/index.ts'`],
  ['jobs/manager.ts', `import { addJob } from '../db/job-start.ts'\nimport { z } from 'zod'`],
  ['jobs/run.ts', `import type { Host } from '../ssh/ssh.ts'\nimport { createQueue } from './queue.ts'`],
  ['jobs/manager.ts', 'const at = new Date(seconds * 1000)\nconst began = performance.now()'],
  ['jobs/manager.ts', '// Date.now() and process.env are not for here\n/* import x from "../functions/index.ts" */'],
  ['platform/config.ts', 'const { env } = process\nread(process.env)'],
  ['db/users.ts', `import type { Database } from './libsql/client.ts'`],
  ['client/panel.ts', `import type { Operations } from './operations.ts'`],
  ['panel/wire/panel.ts', `import { createPanel } from '../../client/index.ts'\nconst at = Date.now()`],
  ['panel/main.tsx', `import { Shell } from './parts/shell.tsx'`],
  ['functions/panel/page.get.ts', `import { ROUTES } from '../../panel/routes.ts'`],
  ['openapi/openapi.ts', 'const { createOpenApi } = await import(`./operation.ts`)\nconst url = import.meta.url'],
  ['modules/loader.ts', 'const code = await import(/* @vite-ignore */ pathToFileURL(path).href)'],
  [
    'demo/host.ts',
    `import { fingerprint } from '../ssh/host-key.ts'\nimport { SHELL } from '../functions/terminal/shell.ts'`,
  ],
  ['demo/place.ts', `import { startServer } from '../serve/server.ts'\nconst at = Date.now()`],
  [
    'bench/manifest.ts',
    `import { functions } from '../functions/index.ts'\nimport { defineJob } from '../jobs/jobs.ts'`,
  ],
])('the check accepts, in %s: %j', (path, source) => {
  expect(wrongs(path, source)).toEqual([])
})

test.each([
  ['runtime/app.ts', `import { parseTarget } from '../functions/hypervisor/target.ts'`, 'not below'],
  ['runtime/app.ts', `import type { Target } from '../functions/hypervisor/target.ts'`, 'not below'],
  ['runtime/app.ts', `import type { Host } from '../ssh/ssh.ts'`, 'not below'],
  ['ssh/host.ts', `import type { Jobs } from '../jobs/jobs.ts'`, 'not below'],
  ['modules/modules.ts', `import { createServer } from '../serve/server.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import { lifeOf } from '../../serve/http-server.ts'`, 'not below'],
  ['functions/updates/apt.ts', `import type { SshError } from '../../ssh/connection.ts'`, 'past ssh/ssh.ts'],
  ['serve/server.ts', `import { createQueue } from '../jobs/queue.ts'`, 'past jobs/jobs.ts'],
  ['jobs/run.ts', `const { quote } = await import('../ssh/command.ts')`, 'past ssh/ssh.ts'],
  ['db/users.ts', `import { failure } from '../runtime/errors.ts'`, 'not below'],
  ['db/users.ts', `export { failure } from '../runtime/errors.ts'`, 'not below'],
  ['db/users.ts', `import '../runtime/errors.ts'`, 'not below'],
  ['db/users.ts', `const errors = await import("../runtime/errors.ts")`, 'not below'],
  ['db/users.ts', 'const errors = await import(`../runtime/errors.ts`)', 'not below'],
  ['jobs/run.ts', 'const { quote } = await import(`../ssh/command.ts`)', 'past ssh/ssh.ts'],
  ['jobs/run.ts', `const kind = await import(\`./kinds/\${name}.ts\`)`, 'no test can read'],
  ['jobs/run.ts', `const kind = await import('./kinds/' + name)`, 'no test can read'],
  ['jobs/run.ts', 'const kind = await import(name)', 'no test can read'],
  ['jobs/run.ts', 'const kind = await import(\n  name,\n)', 'no test can read'],
  ['panel/main.tsx', 'const page = await import(path)', 'no test can read'],
  ['demo/demo.ts', 'const looks = await import(name)', 'no test can read'],
  ['demo/host.ts', `import { RUN } from '../jobs/runner.ts'`, 'past jobs/jobs.ts'],
  ['demo/place.ts', `import type { SshError } from '../ssh/connection.ts'`, 'past ssh/ssh.ts'],
  ['bench/manifest.ts', `import { defineJob } from '../jobs/kind.ts'`, 'past jobs/jobs.ts'],
  ['packaging/panel.ts', `import { createOpenApi } from '../openapi/operation.ts'`, 'past openapi/openapi.ts'],
  ['packaging/panel.ts', `import { functions } from '../functions/index.ts'`, 'the manifest'],
  ['bench/panel.ts', `import login from '../functions/auth/login.post.ts'`, 'the endpoint'],
  ['db/users.ts', `import {\n  failure,\n} from '../runtime/errors.ts'`, 'not below'],
  ['platform/clock.ts', `import type { Database } from '../db/libsql/client.ts'`, 'not below'],
  ['client/panel.ts', `import type { functions } from '../functions/index.ts'`, 'not below'],
  ['jobs/manager.ts', `import type { Event } from '../client/topics.ts'`, 'not below'],
  ['runtime/app.ts', `import { buildPanel } from '../packaging/panel.ts'`, 'not below'],
  ['panel/wire/panel.ts', `import type { functions } from '../../functions/index.ts'`, 'not below'],
  ['panel/main.tsx', `import { VERSION } from '../platform/program.ts'`, 'not below'],
  ['functions/panel/page.get.ts', `import { PAGES } from '../../panel/pages.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import { ROUTES } from '../../panel/routes.ts'`, 'not below'],
  ['panel/routes.ts', `import { PAGES } from './pages.ts'`, 'plain data'],
  ['panel/parts/helpers.tsx', '', 'named'],
  ['functions/auth/cookie.ts', `import { testApp } from '../../test/app.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import { startDemoHost } from '../../demo/host.ts'`, 'not below'],
  ['functions/auth/cookie.ts', `import login from './login.post.ts'`, 'the endpoint'],
  ['functions/modules/list.get.ts', `import run from '../updates/run.post.ts'`, 'the endpoint'],
  ['functions/updates/apt.ts', `import output from '../jobs/output.ws.ts'`, 'the endpoint'],
  ['functions/auth/cookie.ts', `import { functions } from '../index.ts'`, 'the manifest'],
  ['jobs/manager.ts', `import { jobKinds } from '../functions/index.ts'`, 'the manifest'],
  ['db/migrations/0002-more.ts', `import { x } from '../libsql/client.ts'`, 'a migration imports nothing'],
  ['jobs/manager.ts', 'if (process.env.DEBUG) log()', 'the environment'],
  ['jobs/manager.ts', `if (process['env'].DEBUG) log()`, 'the environment'],
  ['functions/auth/cookie.ts', 'const at = Date.now()', 'the time'],
  ['db/users.ts', 'const at = new Date().toISOString()', 'the time'],
  ['functions/updates/utils.ts', '', 'named'],
  ['runtime/helpers/text.ts', '', 'named'],
])('the check finds, in %s: %j', (path, source, expected) => {
  expect(wrongs(path, source)).toContainEqual(expect.stringContaining(expected))
})

test('the build of the image gets every room', () => {
  const given = readFileSync(new URL('../.dockerignore', import.meta.url), 'utf8').match(/(?<=^!).+$/gm)

  expect(given).toEqual(expect.arrayContaining(ROOMS))
})
