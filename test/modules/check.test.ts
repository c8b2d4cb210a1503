import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { runProgram, startProgram } from '../serve/program.ts'

const EXAMPLE = join(import.meta.dirname, '../../examples/module-hello')

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ops-panel-author-'))
})

afterEach(() => rm(folder, { recursive: true }))

const DESCRIPTOR = { id: 'probe', name: 'Probe', version: '1', has_backend: true }
const GOOD = 'export default () => []'

async function write(files: Readonly<Record<string, string | object>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

const check = () => runProgram({}, 'modules', 'check', folder)

test('the example has no fault, and is described without a database', { timeout: 60_000 }, async () => {
  await cp(EXAMPLE, folder, { recursive: true })
  const { code, stdout } = await check()

  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Aucun défaut.') })
  expect(stdout).toContain('Bonjour 1.0.0 (hello)')
  expect(stdout).toMatch(/POST {3}\/api\/modules\/hello\/greetings +user, 300 en 60 s/)
  expect(stdout).toMatch(/PATCH {2}\/api\/modules\/hello\/settings +admin, preuve récente/)
  expect(stdout).toContain('page : 5 sections')
  expect(stdout).toContain('réglages : word, keep, token (secret)')
  expect(stdout).toContain('tâche forget, toutes les 3600 s')
})

test.each<[string, Readonly<Record<string, string | object>>, string]>([
  ['no descriptor', {}, 'module.json n’existe pas'],
  [
    'a descriptor with faults',
    { 'module.json': { ...DESCRIPTOR, id: 'A', name: 1 } },
    'module.json : id : des minuscules',
  ],
  [
    'code that waits outside of a function',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `await 1\n${GOOD}` },
    'backend.mjs attend hors d’une fonction (await)',
  ],
  [
    'the place of an await outside of a function',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `import 'node:fs'\n${GOOD}\nconst b = 1\n  await b` },
    'backend.mjs attend hors d’une fonction (await), ce qui n’est pas possible (backend.mjs:4:3)',
  ],
  [
    'an await outside of a function that never ends',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `${GOOD}\nawait new Promise(() => {})` },
    'backend.mjs attend hors d’une fonction (await), ce qui n’est pas possible (backend.mjs:2:1)',
  ],
  [
    'the place of a syntax error',
    { 'module.json': DESCRIPTOR, 'backend.mjs': 'import fs from "node:fs"\nexport default () => [\n  {{,\n]' },
    "backend.mjs : Unexpected token '{' (backend.mjs:3:4)",
  ],
  [
    'the place of an error while the code is loaded',
    { 'module.json': DESCRIPTOR, 'backend.mjs': 'export default () => {\n  READ()\n}' },
    'backend.mjs : READ is not defined (backend.mjs:2:3)',
  ],
  [
    'the place where a descriptor ends to be JSON',
    { 'module.json': '{\n  "id": "a"\n  "name": "b"\n}' },
    '(module.json:3:3)',
  ],
  [
    'an unknown error code, quoted with the nearest one',
    {
      'module.json': DESCRIPTOR,
      'backend.mjs': `export default ({ z, defineFunction }) => [defineFunction({
        method: 'POST', path: '/api/modules/probe/a', auth: 'user', rateLimit: false, audit: ['setings_changed'],
        errors: ['notfound'], response: z.null(), handler: () => null })]`,
    },
    '« audit.0 » est invalide : « setings_changed » (attendu : une action du journal d’audit, le plus proche : settings_changed) ; « errors.0 » est invalide : « notfound » (attendu : un code d’erreur du service, le plus proche : not_found)',
  ],
  ['no code', { 'module.json': DESCRIPTOR }, 'backend.mjs n’existe pas'],
  [
    'code that nobody declares',
    { 'module.json': { ...DESCRIPTOR, has_backend: false }, 'backend.mjs': GOOD },
    'has_backend',
  ],
  [
    'a missing file of the page',
    { 'module.json': { ...DESCRIPTOR, has_backend: false, page: { files: ['web/a.html'] } } },
    'web/a.html n’existe pas',
  ],
  ['a syntax error', { 'module.json': DESCRIPTOR, 'backend.mjs': 'export default (' }, 'backend.mjs : '],
  [
    'an import of its own',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `import './more.mjs'\n${GOOD}`, 'more.mjs': '' },
    'importe « ./more.mjs »',
  ],
  ['an import of a package', { 'module.json': DESCRIPTOR, 'backend.mjs': `import 'zod'\n${GOOD}` }, 'importe « zod »'],
  ['an import without node:', { 'module.json': DESCRIPTOR, 'backend.mjs': `import 'fs'\n${GOOD}` }, 'importe « fs »'],
  [
    'an import in a function',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `${GOOD}\nconst later = () => import('zod')` },
    'dans une fonction',
  ],
  [
    'an import in a function behind a string that looks like the beginning of a comment',
    {
      'module.json': DESCRIPTOR,
      'backend.mjs': `${GOOD}\nconst accept = '*/*'\nconst later = () => import('zod') /* zod */`,
    },
    'dans une fonction',
  ],
  [
    'a wrong declaration',
    {
      'module.json': DESCRIPTOR,
      'backend.mjs': 'export default ({ defineTask }) => [defineTask({ name: "a", every: 1, run() {} })]',
    },
    '« every » est trop petit',
  ],
  [
    'code that ends the process',
    { 'module.json': DESCRIPTOR, 'backend.mjs': `process.exit(3)\n${GOOD}` },
    'a mis fin au programme pendant son chargement (code 3)',
  ],
])('%s is a fault', { timeout: 60_000 }, async (_, files, fault) => {
  await write(files)
  const { code, stdout } = await check()

  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^Défaut : /m) })
  expect(stdout).toContain(fault)
})

test('all faulty declarations are told, and all faulty sections of a page', { timeout: 60_000 }, async () => {
  const task = (name: string) => `defineTask({ name: '${name}', every: 1, run() {} })`
  await write({
    'module.json': DESCRIPTOR,
    'backend.mjs': `export default ({ z, defineFunction, defineTask }) => [
      defineFunction({ method: 'GET', path: '/api/a', auth: 'user' }), ${task('a')}, ${task('b')}, { kind: 'odd' }]`,
  })
  const { stdout } = await check()
  for (const place of ['1 (GET /api/a)', '2 (tâche)', '3 (tâche)', '4'])
    expect(stdout).toContain(`Défaut : déclaration ${place} : `)

  await write({
    'backend.mjs': `export default ({ definePage }) => [definePage({ sections: [
      { kind: 'action', label: 'a', call: 'POST /api/x' }, { kind: 'action', label: 'b', call: 'POST /api/y' }] })]`,
  })
  const { stdout: page } = await check()
  expect(page).toContain('« sections.0 »')
  expect(page).toContain('« sections.1 »')
})

test('mistakes that keep the module from nothing are remarks', { timeout: 60_000 }, async () => {
  await write({
    'module.json': {
      ...DESCRIPTOR,
      has_backend: false,
      descripton: '',
      nav: { label: 'Probe', icon: 'sever', href: '/module/probe' },
      page: { files: ['web/a.html', 'web/a.js'] },
    },
    'web/a.html': '<script src="a.js"></script><script src="b.js"></script><script>1</script>',
    'web/a.js': '',
  })
  const { code, stdout } = await check()

  expect(code).toBe(0)
  expect(stdout.split('\n').filter((line) => line.startsWith('Remarque'))).toEqual([
    'Remarque : module.json : descripton : champ inconnu, sans effet (le plus proche : description)',
    'Remarque : module.json : nav.icon : « sever » n’est pas une icône du panneau, qui montre puzzle (le plus proche : server)',
    'Remarque : module.json : nav.href : « /module/probe » n’est pas la page du module, /modules/probe',
    'Remarque : web/a.html : le script « b.js » n’est pas dans page.files',
    'Remarque : web/a.html : un <script> sans src n’est pas exécuté',
  ])
})

test('a folder that does not exist is no folder', { timeout: 60_000 }, async () => {
  const { code, stderr } = await runProgram({}, 'modules', 'check', join(folder, 'nowhere'))

  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('n’est pas un dossier') })
})

test('an import of a package is one fault, not also that of a copy of the code', { timeout: 60_000 }, async () => {
  await write({ 'module.json': DESCRIPTOR, 'backend.mjs': `import 'nothing-of-this-name'\n${GOOD}` })

  expect((await check()).stdout.match(/Défaut/g)).toHaveLength(1)
})

test('a long run of blank lines and an open comment hold nothing up', { timeout: 60_000 }, async () => {
  const page = { page: { files: ['web/index.html'] } }
  const blank = '\n'.repeat(200_000)
  const files = { 'web/index.html': '<!--'.repeat(200_000), 'backend.mjs': `${GOOD}${blank}` }
  await write({ 'module.json': { ...DESCRIPTOR, ...page }, ...files })
  expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('Aucun défaut.') })

  await write({ 'module.json': DESCRIPTOR, 'backend.mjs': `${blank}let x = ;${'/*'.repeat(200_000)}` })
  expect((await check()).stdout).toContain('(backend.mjs:200001:9)')
})

test('a comment that names a type by an import is no fault', { timeout: 60_000 }, async () => {
  const types = `/** @type {import('./ops-panel-module.d.ts').Kit} */\n  // import('ky')\n`
  await write({ 'module.json': DESCRIPTOR, 'backend.mjs': `${types}${GOOD}` })

  expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('Aucun défaut.') })
})

test('code that loops is ended after five seconds', { timeout: 90_000 }, async () => {
  await write({ 'module.json': DESCRIPTOR, 'backend.mjs': `for (;;);\n${GOOD}` })
  const { code, stdout } = await check()

  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('n’est pas chargé après 5 s') })
})

test('a link that leads out of the folder is a fault, and so is a file that is too large', {
  timeout: 60_000,
}, async () => {
  await write({
    'module.json': { ...DESCRIPTOR, page: { files: ['a.html'] } },
    'a.html': 'x'.repeat(5 * 1024 * 1024 + 1),
  })
  await symlink('/etc/hostname', join(folder, 'backend.mjs'))
  const { stdout } = await check()

  expect(stdout).toContain('backend.mjs est un lien symbolique')
  expect(stdout).toContain('a.html dépasse 5 Mio')
})

test('a descriptor, or files of a page together, that no installation would take are faults', {
  timeout: 60_000,
}, async () => {
  const files = ['a.html', 'b.js', 'c.js']
  const page = { 'module.json': { ...DESCRIPTOR, has_backend: false, page: { files } } }
  await write({ ...page, ...Object.fromEntries(files.map((name) => [name, 'x'.repeat(4 * 1024 * 1024)])) })
  expect((await check()).stdout).toContain('les fichiers de la page dépassent 10 Mio ensemble')

  await write({ 'module.json': `${JSON.stringify(DESCRIPTOR)}${' '.repeat(64 * 1024)}` })
  expect((await check()).stdout).toContain('module.json dépasse 64 Kio')
})

test('`modules dev` serves a module to its author, reloads it after a change and names faults', {
  timeout: 180_000,
}, async () => {
  await cp(EXAMPLE, folder, { recursive: true })
  const dev = startProgram({}, 'modules', 'dev', folder)
  await dev.said('compte dev')
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(dev.stdout() + dev.stderr()) ?? []
  const body = JSON.stringify({ username: 'dev', password: 'dev' })
  const login = await fetch(`${url}/api/auth/login`, { method: 'POST', body })
  const { access_token } = z.object({ access_token: z.string() }).parse(await login.json())
  const headers = { authorization: `Bearer ${access_token}` }
  const greeting = async () => {
    const answer = await fetch(`${url}/api/modules/hello/greeting`, { headers }).catch(() => undefined)
    return answer?.ok ? answer.json() : undefined
  }
  expect(await greeting()).toEqual({ message: 'Bonjour dev.', count: 0 })
  const change = { ...headers, 'content-type': 'application/json' }
  const greet = await fetch(`${url}/api/modules/hello/greetings`, {
    method: 'POST',
    headers: change,
    body: '{"name":"Zoé"}',
  })
  expect(greet.status).toBe(201)

  const source = (message: string) => `export default ({ z, defineFunction }) => [defineFunction({
    method: 'GET', path: '/api/modules/hello/greeting', auth: 'user', rateLimit: false,
    response: z.object({ message: z.string() }), handler: () => ({ message: '${message}' }) })]`
  // A service whose module ended it so often would leave the module out.
  for (const message of ['one', 'two', 'three', 'four', 'changed']) {
    await writeFile(join(folder, 'backend.mjs'), source(message))
    await expect.poll(greeting, { timeout: 30_000 }).toEqual({ message })
  }
  await writeFile(join(folder, 'backend.mjs'), source('wrong').replace('() => ({ message', '() => (null.x, { message'))
  await expect
    .poll(async () => (await fetch(`${url}/api/modules/hello/greeting`, { headers }).catch(() => undefined))?.status, {
      timeout: 30_000,
    })
    .toBe(500)
  await dev.said(' — backend.mjs:3:')
  expect(dev.stdout()).toMatch(
    /^Erreur : Cannot read .* — backend\.mjs:3:\d+ \(GET \/api\/modules\/hello\/greeting\)$/m,
  )
  expect(dev.stdout() + dev.stderr()).not.toContain('job failed')
  await writeFile(join(folder, 'backend.mjs'), source('changed'))
  await expect.poll(greeting, { timeout: 30_000 }).toEqual({ message: 'changed' })
  await writeFile(join(folder, 'backend.mjs'), source('broken').replace('rateLimit', 'ratelimit'))
  await dev.said('« rateLimit » manque')
  expect(await greeting()).toEqual({ message: 'changed' })

  dev.kill('SIGTERM')
  expect(await dev.ended).toBe(0)
  await expect(fetch(`${url}/api/health`)).rejects.toThrow()
})
