import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { neededBy, sources } from './imports.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../docs/architecture.md'), 'utf8')
const ROOMS = ['functions', 'runtime', 'db', 'client', 'panel']
const GROUND = 'ground'

/** The files of the table, each with its part. */
const partOf = new Map(
  [...PAGE.matchAll(/^\| (\w+) \| [^|]+ \| (`[^|]+) \|$/gm)].flatMap(([, part = '', files = '']) =>
    [...files.matchAll(/`([\w-]+)`/g)].map(([, name]): [string, string] => [`runtime/${name}.ts`, part]),
  ),
)

/** The solid arrows of a picture. */
function arrows(picture: string): string[] {
  return [...picture.matchAll(/^ +(\w+)(?:\[[^\]]*\])? --> (\w+)/gm)].map(([, from, to]) => `${from} --> ${to}`).sort()
}

/** What the files of each place need of other places. */
function needed(placeOf: (path: string) => string | undefined): string[] {
  const found = new Set<string>()
  for (const [path, source] of sources(...ROOMS)) {
    const from = placeOf(path)
    for (const target of neededBy(path, source)) {
      const to = placeOf(target)
      if (from !== undefined && to !== undefined && from !== to) found.add(`${from} --> ${to}`)
    }
  }
  return [...found].sort()
}

const [rooms = '', parts = ''] = [...PAGE.matchAll(/```mermaid\nflowchart [\s\S]*?```/g)].map(([picture]) => picture)

test('every file of the runtime stands in the table of the parts, once', () => {
  const named = [...PAGE.matchAll(/`([\w-]+)`(?=[ `\w-]* \|$)/gm)].map(([, name]) => `runtime/${name}.ts`)
  const files = sources('runtime').map(([path]) => path)

  expect([...partOf.keys()].sort()).toEqual(files.sort())
  expect(named.length).toBe(files.length)
})

test('the picture of the rooms shows their imports, and no others', () => {
  const place = (path: string) => (partOf.get(path) === 'entries' ? 'entries' : path.split('/')[0])

  expect(arrows(rooms)).toEqual(needed(place))
})

test('the picture of the parts shows what they need of each other, and nothing else', () => {
  const place = (path: string) => {
    const part = partOf.get(path)
    return part === GROUND || part === 'entries' ? undefined : part
  }

  expect(arrows(parts)).toEqual(needed(place))
})

test('the ground stands on nothing but the database', () => {
  const upwards = sources('runtime').flatMap(([path, source]) =>
    partOf.get(path) === GROUND
      ? neededBy(path, source)
          .filter((target) => target.startsWith('runtime/') && partOf.get(target) !== GROUND)
          .map((target) => `${path} --> ${target}`)
      : [],
  )

  expect(upwards).toEqual([])
})

test.each([
  ["import { a } from './a.ts'", ['runtime/a.ts']],
  ["import a, { type b } from './a.ts'", ['runtime/a.ts']],
  ["import { type a, b } from './a.ts'", ['runtime/a.ts']],
  ["export { a } from './a.ts'", ['runtime/a.ts']],
  ["const a = await import('./a.ts')", ['runtime/a.ts']],
  ["import '../db/a.ts'", ['db/a.ts']],
  ["import type { a } from './a.ts'\nimport { b } from './b.ts'", ['runtime/b.ts']],
  ["import type a from './a.ts'", []],
  ["import { type a, type b as c } from './a.ts'", []],
  ["import {\n  type a,\n  type b,\n} from './a.ts'", []],
  ["export type { a } from './a.ts'", []],
  ["// import { a } from './a.ts'", []],
])('what %j needs at run time is seen', (source, expected) => {
  expect(neededBy('runtime/x.ts', source)).toEqual(expected)
})
