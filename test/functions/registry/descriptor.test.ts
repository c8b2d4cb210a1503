import { expect, test } from 'vitest'
import { parseDescriptor } from '../../../functions/registry/descriptor.ts'
import { PADDED_LINKS, SAFE_LINKS, UNSAFE_LINKS } from '../../links.ts'

const SMALLEST = { id: 'backups', name: 'Sauvegardes', version: '1.0.0' }

const parse = (more: object) => parseDescriptor(JSON.stringify({ ...SMALLEST, ...more }))
/** Returns the refused fields, each once. */
const refusedFields = (text: string) => {
  const parsed = parseDescriptor(text)
  return 'reasons' in parsed ? [...new Set(parsed.reasons.map(({ field }) => field))] : []
}

test('an id, a name and a version suffice; a module has no code unless it says so', () => {
  expect(parse({})).toEqual({ descriptor: { ...SMALLEST, has_backend: false, backend: 'backend.mjs' } })
})

test('every known field is read, and unknown fields are ignored', () => {
  const all = {
    ...SMALLEST,
    description: 'Sauvegarde\n\tles conteneurs.',
    has_backend: true,
    backend: 'dist/backend.js',
    nav: { label: 'Sauvegardes', icon: 'box', href: '/backups?all=1#top', order: -3 },
  }

  const text = JSON.stringify({ ...all, author: 'x', nav: { ...all.nav, colour: 'red' } })

  expect(parseDescriptor(text)).toEqual({ descriptor: all })
  expect(parseDescriptor(`\uFEFF${text}`)).toEqual({ descriptor: all })
})

test('this check does not refuse the panel’s own ids', () => {
  expect(parse({ id: 'dashboard' })).toMatchObject({ descriptor: { id: 'dashboard' } })
})

test.each([
  ['', 'ce n’est pas un texte JSON'],
  ['{"id": "x",}', 'ce n’est pas un texte JSON'],
  ['  <!DOCTYPE html><html></html>', 'c’est une page HTML'],
  ['<html lang="en">', 'c’est une page HTML'],
  ['[]', 'un objet JSON est attendu'],
  ['null', 'un objet JSON est attendu'],
  ['"text"', 'un objet JSON est attendu'],
  ['{"id": {"length": {"toString": ""}}, "name": {"length": {"toString": ""}}}', 'Entrée invalide'],
  ['['.repeat(60_000), 'ce n’est pas un texte JSON'],
])('%.30s is refused as a whole', (text, message) => {
  expect(parseDescriptor(text)).toEqual({ reasons: [{ field: '', message }] })
})

test('each invalid field is named, in French', () => {
  const text = JSON.stringify({
    id: 'Backups',
    name: '',
    has_backend: 'yes',
    description: 3,
    backend: '../x.mjs',
    nav: { href: 'javascript:alert(1)', order: 1.5 },
  })

  expect(parseDescriptor(text)).toEqual({
    reasons: [
      { field: 'id', message: 'des minuscules, des chiffres et des tirets, une lettre d’abord, 63 au plus' },
      { field: 'name', message: 'ne doit pas être vide' },
      { field: 'version', message: 'obligatoire' },
      { field: 'description', message: 'un texte est attendu' },
      { field: 'has_backend', message: 'true ou false est attendu' },
      { field: 'backend', message: 'le nom d’un fichier .mjs ou .js du dépôt, sans « .. »' },
      { field: 'nav.label', message: 'obligatoire' },
      { field: 'nav.href', message: 'un chemin (/…) ou une adresse http: ou https: sans identifiants' },
      { field: 'nav.order', message: 'un nombre entier est attendu' },
    ],
  })
})

test.each(['a', 'a-1', 'a'.repeat(63)])('%s is a valid id', (id) => {
  expect(parse({ id })).toMatchObject({ descriptor: { id } })
})

test.each(['', '1a', '-a', 'A', 'a_b', 'a.b', 'a/b', '../a', 'é', 'a\n', 'a'.repeat(64), '__proto__'])(
  '%j is not an id',
  (id) => {
    expect(refusedFields(JSON.stringify({ ...SMALLEST, id }))).toEqual(['id'])
  },
)

test.each([
  [{ name: '   ' }, 'name'],
  [{ name: 'a\u001b[31m' }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ version: '' }, 'version'],
  [{ version: 1 }, 'version'],
  [{ version: '1'.repeat(65) }, 'version'],
  [{ description: 'x'.repeat(2_001) }, 'description'],
  [{ description: 'a\0' }, 'description'],
  [{ description: 'a\u001b[2J' }, 'description'],
  [{ has_backend: 1 }, 'has_backend'],
  [{ nav: [] }, 'nav'],
  [{ nav: null }, 'nav'],
  [{ nav: { label: 'x'.repeat(81), href: '/' } }, 'nav.label'],
  [{ nav: { label: 'x', href: '/', icon: 'a\0' } }, 'nav.icon'],
  [{ nav: { label: 'x', href: '/', order: 1e300 } }, 'nav.order'],
  [{ nav: { label: 'x', href: '/', order: '1' } }, 'nav.order'],
  [{ nav: { label: 'x' } }, 'nav.href'],
])('%j is refused with the name of its field', (more, field) => {
  expect(refusedFields(JSON.stringify({ ...SMALLEST, ...more }))).toEqual([field])
})

test.each(['backend.mjs', 'index.js', 'dist/a b/x.mjs', '.hidden/x.js', 'a..b.mjs', 'é.mjs'])(
  '%s may be the code file',
  (backend) => {
    expect(parse({ backend })).toMatchObject({ descriptor: { backend } })
  },
)

test.each([
  '',
  'backend.cjs',
  'backend.mjs.txt',
  'backend.MJS',
  '/etc/x.mjs',
  '//x.mjs',
  'a//x.mjs',
  '../x.mjs',
  'a/../x.mjs',
  './x.mjs',
  'a/..',
  '..\\x.mjs',
  'a\\x.mjs',
  'a\0.mjs',
  'a\n.mjs',
  'file:///x.mjs',
  `${'x'.repeat(252)}.mjs`,
])('%j is not a code file', (backend) => {
  expect(refusedFields(JSON.stringify({ ...SMALLEST, backend }))).toEqual(['backend'])
})

test.each(SAFE_LINKS)('%s is a valid menu link', (href) => {
  expect(parse({ nav: { label: 'x', href } })).toMatchObject({ descriptor: { nav: { href } } })
})

test.each([...UNSAFE_LINKS, ...PADDED_LINKS, `/${'x'.repeat(2_000)}`])('%j is not a menu link', (href) => {
  expect(refusedFields(JSON.stringify({ ...SMALLEST, nav: { label: 'x', href } }))).toEqual(['nav.href'])
})
