import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, sources, withoutComments } from './imports.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../docs/architecture.md'), 'utf8')
const ROOMS = [
  'cli',
  'client',
  'functions',
  'jobs',
  'modules',
  'openapi',
  'panel',
  'serve',
  'sessions',
  'settings',
  'ssh',
]

/** Returns the solid arrows of a picture. */
function arrows(picture: string): string[] {
  return [...picture.matchAll(/^ +(\w+)(?:\[[^\]]*\])? --> (\w+)/gm)].map(([, from, to]) => `${from} --> ${to}`).sort()
}

/** Returns which room imports which, types included. */
function imported(files: readonly (readonly [path: string, source: string])[]): string[] {
  const room = (path: string) => path.split('/')[0] ?? ''
  const found = files.flatMap(([path, source]) =>
    importsOf(path, withoutComments(source))
      .filter((target) => room(target) !== room(path) && ROOMS.includes(room(target)))
      .map((target) => `${room(path)} --> ${room(target)}`),
  )
  return [...new Set(found)].sort()
}

test('the picture of the rooms shows exactly their imports', () => {
  const [picture = ''] = /```mermaid\nflowchart [\s\S]*?```/.exec(PAGE) ?? []

  expect(arrows(picture).length).toBeGreaterThan(10)
  expect(arrows(picture)).toEqual(imported(sources(...ROOMS)))
})

test.each([
  ["import { a } from '../ssh/ssh.ts'", ['jobs --> ssh']],
  ["import type { a } from '../ssh/ssh.ts'", ['jobs --> ssh']],
  ["export { a } from '../ssh/ssh.ts'", ['jobs --> ssh']],
  ["const a = await import('../ssh/ssh.ts')", ['jobs --> ssh']],
  ["import { a } from './run.ts'\nimport { b } from '../db/jobs.ts'", []],
  ["// import { a } from '../ssh/ssh.ts'", []],
])('the arrows of %j are parsed', (source, expected) => {
  expect(imported([['jobs/manager.ts', source]])).toEqual(expected)
})
