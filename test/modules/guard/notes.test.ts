import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endFile, Note, readRecord, writeRecord } from '../../../modules/guard/notes.ts'
import { temporaryFolder } from '../../db/folder.ts'

const NOTE: Note = {
  what: 'loop',
  module: 'bad',
  release: '2026-01-01T00:00:00.000Z',
  place: 'backend.mjs:3',
  message: '',
  trial: '',
}

test('a note is read as it was written, by its owner only, and nothing else is left in the folder', async () => {
  const folder = await temporaryFolder()
  const file = endFile(folder)

  writeRecord(file, { ...NOTE, place: 'an older one' })
  writeRecord(file, NOTE)

  expect(readRecord(file, Note)).toEqual(NOTE)
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['modules-end.json'])
})

test.each([
  ['is no JSON', (file: string) => writeFileSync(file, '{"what":"loop"')],
  ['has other fields', (file: string) => writeFileSync(file, '{"what":"loop"}')],
  ['has a long place', (file: string) => writeFileSync(file, JSON.stringify({ ...NOTE, place: 'x'.repeat(301) }))],
  ['is large', (file: string) => writeFileSync(file, JSON.stringify({ ...NOTE, more: 'x'.repeat(300_000) }))],
  ['is a folder', (file: string) => void mkdirSync(join(file, 'inside'), { recursive: true })],
  ['is a link', (file: string) => symlinkSync('/dev/zero', file)],
])('a note that %s is ignored and removed', async (_, place) => {
  const file = endFile(await temporaryFolder())
  place(file)

  expect(readRecord(file, Note)).toBeUndefined()
  expect(existsSync(file)).toBe(false)
  expect(existsSync('/dev/zero')).toBe(true)
})
