import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { en } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'
import { literalsIn } from './literals.ts'

/** Every word, by its way: `updates.title`. A function is one too. */
function ways(value: unknown, way = ''): string[] {
  if (typeof value !== 'object' || value === null) return [way]
  return Object.entries(value).flatMap(([name, each]) => ways(each, way ? `${way}.${name}` : name))
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}

test('what is said in French is said in English, and the other way round', () => {
  expect(ways(en).sort()).toEqual(ways(fr).sort())
  expect(ways(fr).length).toBeGreaterThan(300)
})

test('a word that is missing in one language would be found', () => {
  expect(ways({ a: { b: 'x' } })).not.toEqual(ways({ a: { b: 'x', c: 'y' } }))
})

test('French has its spaces before its signs, and its apostrophe', () => {
  const wrong = texts(fr).filter((text) => /[ \u00a0][;?!]| [:»]|« |\w'\w/.test(text))

  expect(wrong).toEqual([])
  expect('Vraiment ?').toMatch(/[ \u00a0][;?!]| [:»]|« |\w'\w/)
})

test('every code that the service can fail with has a sentence', () => {
  const table = readFileSync('runtime/errors.ts', 'utf8').split('} as const')[0] ?? ''
  const codes = [...table.matchAll(/^ {2}(\w+): \[/gm)].map(([, code = '']) => code)

  expect(codes.length).toBeGreaterThan(50)
  for (const { errors } of [fr, en]) expect(codes.filter((code) => !Object.hasOwn(errors, code))).toEqual([])
})

test('components have no words for people', () => {
  const paths = globSync('panel/**/*.tsx')

  expect(paths.length).toBeGreaterThan(30)
  expect(paths.flatMap((path) => literalsIn(path, readFileSync(path, 'utf8')))).toEqual([])
})

test('words for people in a component are found, and nothing else', () => {
  const source = `const a = <p title="Bonjour" class="dim">Salut <b>{1}</b> · {x ? 'code' : y}<i aria-label={z ? 'Oui' : w} /></p>`

  expect(literalsIn('a.tsx', source)).toEqual(['a.tsx: Bonjour', 'a.tsx: Salut', 'a.tsx: Oui'])
})
