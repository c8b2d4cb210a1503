import { mkdir, symlink } from 'node:fs/promises'
import type { HeapProfiler } from 'node:inspector'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { watchEndings } from '../../../modules/guard/endings.ts'
import { nextSuspect } from '../../../modules/guard/faults.ts'
import { mostOf, watchMemory } from '../../../modules/guard/memory.ts'
import { findInStack, ownerOf, watched } from '../../../modules/guard/places.ts'
import { temporaryFolder } from '../../db/folder.ts'

const AT = '2026-01-01T00:00:00.000Z'
const module = (id: string, folder = '/srv/a b/modules') => watched(folder, { id, updated_at: AT })
const BOTH = [module('a'), module('ab')]

test.each([
  ['Error: x\n    at f (file:///srv/a%20b/modules/ab/backend.mjs:3:5)', { id: 'ab', place: 'backend.mjs:3:5' }],
  ['Error: x\n    at /srv/a b/modules/a/lib/more.mjs:9:1', { id: 'a', place: 'lib/more.mjs:9:1' }],
  [
    'Error: x\n    at node:fs:1:1\n    at file:///srv/a%20b/modules/a/b.mjs:1:2\n    at file:///srv/a%20b/modules/ab/b.mjs:1:2',
    { id: 'a', place: 'b.mjs:1:2' },
  ],
])('the innermost line of a stack that lies in a module names it: %j', (stack, { id, place }) => {
  const found = findInStack(stack, BOTH)

  expect({ id: found?.module.id, place: found?.place }).toEqual({ id, place })
})

test.each([
  'Error: (file:///srv/a%20b/modules/a/backend.mjs:1:1)',
  'Error: x\n    at file:///srv/a%20b/modules/abc/backend.mjs:1:1',
  'Error: x\n    at node:internal/timers:1:1',
  '',
])('the message of an error, other code and other modules blame nobody: %j', (stack) => {
  expect(findInStack(stack, BOTH)).toBeUndefined()
})

test('a text of a caller in the message of an error blames no other module', () => {
  const ends: unknown[] = []
  let current: string | undefined
  const endings = watchEndings(
    BOTH,
    () => current,
    (end) => ends.push(end),
  )
  const forged = 'x\n    at f (file:///srv/a%20b/modules/ab/backend.mjs:1:1)'
  const end = (error: Error) => {
    process.listeners('uncaughtExceptionMonitor').at(-1)?.(error, 'uncaughtException')
    process.listeners('exit').at(-1)?.(1)
  }
  const error = new Error(forged)
  error.stack = `Error: ${forged}\n    at g (file:///srv/a%20b/modules/a/backend.mjs:7:3)`
  end(error)
  current = 'a'
  end(new TypeError(forged))
  endings.stop()

  expect(ends).toMatchObject([
    { what: 'error', module: 'a', place: 'backend.mjs:7:3' },
    { what: 'error', module: 'a', place: '' },
  ])
})

test('the folder of all modules may be a link', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'real'))
  await symlink(join(folder, 'real'), join(folder, 'link'))
  const found = module('a', join(folder, 'link'))

  for (const way of ['real', 'link']) {
    const path = join(folder, way, 'a/backend.mjs')
    expect(ownerOf(path, [found])?.id).toBe('a')
    expect(ownerOf(pathToFileURL(path).href, [found])?.id).toBe('a')
  }
})

test('the newest module is suspected first, then the one before, and each only once', () => {
  const modules = [
    { id: 'old', updated_at: '2026-01-01T00:00:00.000Z' },
    { id: 'new', updated_at: '2026-03-01T00:00:00.000Z' },
    { id: 'middle', updated_at: '2026-02-01T00:00:00.000Z' },
  ]

  expect(nextSuspect(modules, [])).toBe('new')
  expect(nextSuspect(modules, ['new'])).toBe('middle')
  expect(nextSuspect(modules, ['new', 'middle'])).toBe('old')
  expect(nextSuspect(modules, ['new', 'middle', 'old'])).toBeUndefined()
})

const node = (
  url: string,
  selfSize: number,
  children: HeapProfiler.SamplingHeapProfileNode[] = [],
): HeapProfiler.SamplingHeapProfileNode => ({
  callFrame: { functionName: '', scriptId: '1', url, lineNumber: 0, columnNumber: 0 },
  selfSize,
  children,
})

test('a module holds the memory only if its code, or what it called, has allocated more than half', () => {
  const inside = 'file:///srv/a%20b/modules/a/backend.mjs'
  const head = node('', 0, [node(inside, 10, [node('node:buffer', 50)]), node('file:///srv/service.mjs', 30)])

  expect(mostOf(head, BOTH, 100)?.module.id).toBe('a')
  expect(mostOf(head, BOTH, 120)).toBeUndefined()
})

test('a full heap without a module that holds most of it blames nobody, and is not counted at each look', () => {
  let counted = 0
  const heap = { used_heap_size: 90, heap_size_limit: 100 }
  const watch = watchMemory([module('a')], () => {
    counted += 1
    return heap as never
  })

  expect(watch.look()).toBeUndefined()
  const first = counted
  expect(watch.look()).toBeUndefined()
  expect(counted).toBe(first + 1)
  watch.stop()
})
