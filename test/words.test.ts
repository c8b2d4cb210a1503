import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const EXCLUDED = ['**/node_modules/**', 'dist/**', 'data/**']

/** Returns the path and the text of each file of the project that matches one of the patterns. */
const files = (...patterns: string[]) =>
  globSync(patterns, { cwd: ROOT, exclude: EXCLUDED }).map((path): [string, string] => [
    path,
    readFileSync(join(ROOT, path), 'utf8'),
  ])

/** A sentence whose subject is a clause: its reader has to wait for the verb. */
const OPENING = /^["“(*_`]*(?:What|Whatever|Who|Whoever|One (?:that|who|whose))\b/

/** Returns the sentences of a text that open with a clause in place of a noun. Questions may. */
function openings(text: string): string[] {
  const sentences = text.split(/(?<=[.!?:][)"”*_`]*)\s+|\n{2,}/)
  return sentences.map((each) => each.trim()).filter((each) => OPENING.test(each) && !each.endsWith('?'))
}

/** Returns the texts of the comments of a source; lines of `//` that follow each other are one. */
function commentsOf(source: string): string[] {
  const found = source.matchAll(/(?<=^|[\s{(])\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|(?<=\s)\/\/ .*/gm)
  return [...found].map(([comment]) => comment.replaceAll(/^[ \t]*(?:\/\*+|\*+\/|\/\/|\*)|\*\/$/gm, '').trim())
}

/** Returns the comments of a shell script; lines that follow each other are one. */
function shellCommentsOf(source: string): string[] {
  const found = source.matchAll(/(?:^[ \t]*#.*\n?)+/gm)
  return [...found].map(([comment]) => comment.replaceAll(/^[ \t]*#!?/gm, '').trim())
}

/** Returns the paragraphs, list items and table cells of a page: not its headings and not its code. */
function proseOf(page: string): string[] {
  const text = page.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').replaceAll(/^#+ .*$/gm, '')
  return text.split(/\n\s*\n|^ *(?:[-*]|\d+\.) |^\||\|$| \| /gm)
}

const named = (found: readonly (readonly [string, string])[], textsOf: (content: string) => string[]) =>
  found.flatMap(([path, content]) =>
    textsOf(content)
      .flatMap(openings)
      .map((sentence) => `${path}: ${sentence}`),
  )

test('no sentence of a comment opens with a clause in place of a noun', () => {
  const sources = files('**/*.{ts,tsx,mjs,cjs,css}', '.ci/*.mjs').filter(([path]) => path !== 'test/words.test.ts')
  const scripts = files('**/*.sh', '.ci/run', 'Dockerfile')

  expect(sources.length).toBeGreaterThan(700)
  expect(named(sources, commentsOf)).toEqual([])
  expect(scripts.length).toBeGreaterThan(8)
  expect(named(scripts, shellCommentsOf)).toEqual([])
})

test('no sentence of a page opens with a clause in place of a noun', () => {
  const pages = files('**/*.md')

  expect(pages.length).toBeGreaterThan(40)
  expect(named(pages, proseOf)).toEqual([])
})

test.each([
  '/** What a client sends. */',
  '/**\n * Reads a frame.\n *\n * Whoever reads it waits.\n */',
  '/* Reads a frame. One that is too long\n * is dropped. */',
  '  // Reads a frame:\n  // Whatever comes is kept.',
  'const frame = 1 // Who has sent it.',
  '{/* What is shown. */}',
])('the check finds the sentence in %j', (source) => {
  expect(named([['planted.ts', source]], commentsOf)).toHaveLength(1)
})

test.each([
  '/** The frame that a client sends. */',
  '/** Reads what a client sends, and who has sent it. */',
  '/** What if the client is gone? Then nothing is sent. */',
  "const text = 'What is this.'",
  "const pattern = 'test/**' // The files.\nWhatever()",
  '/** Whole frames. Whose they are is known. */',
])('the check finds nothing in %j', (source) => {
  expect(named([['planted.ts', source]], commentsOf)).toEqual([])
})

test.each([
  'What it does.',
  'It runs. What it prints is stored.',
  '- Whoever calls it waits.',
  '1. One that fails is repeated.',
  '| Name | Who may call it |\n| --- | --- |',
  'It runs.\n**What ends.** The session.',
])('the check finds the sentence in the page %j', (page) => {
  expect(named([['planted.md', page]], proseOf)).toHaveLength(1)
})

test.each([
  '## What to do\n\nRun it again.',
  '```\nWhat is this.\n```',
  'What does it do? It runs.',
  'It shows what it prints, and who may call it.',
  '| what it does | who |',
])('the check finds nothing in the page %j', (page) => {
  expect(named([['planted.md', page]], proseOf)).toEqual([])
})
