import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'
import { expect, test } from 'vitest'
import { type BuiltPanel, buildPanel, importedBy } from '../../packaging/panel.ts'
import { panelFrom } from '../../packaging/panel-from-sources.ts'
import { PANEL_PAGE } from '../../platform/asset-files.ts'
import { temporaryFolder } from '../db/folder.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The budgets, in KB of 1000 bytes after gzip -9. */
const [FIRST_LOAD, TERMINAL] = [90, 95]

const panel = await buildPanel()

const pageOf = ({ files }: BuiltPanel) => Buffer.from(files.get(PANEL_PAGE) ?? []).toString()
/** The files that the page refers to, by stored name. */
const named = (page: string) => Array.from(page.matchAll(/(?:src|href)="\/([^"]+)"/g), ([, name = '']) => name)

/** The files that a French browser loads before it shows the dashboard, without the icon. */
function firstLoad({ metafile }: BuiltPanel, page: string): string[] {
  const begun = named(page).filter((name) => /\.(js|css)$/.test(name))
  return [...new Set([...begun, ...begun.flatMap((name) => importedBy(metafile, name))])].sort()
}

/** The additional files that opening a terminal loads. */
function terminal({ metafile }: BuiltPanel, before: readonly string[]): string[] {
  const chunks = Object.keys(metafile.outputs).filter((name) => holds(metafile, name, '@xterm/'))
  const all = chunks.flatMap((name) => [name, ...importedBy(metafile, name), metafile.outputs[name]?.cssBundle ?? []])
  return [...new Set(all.flat())].filter((name) => !before.includes(name)).sort()
}

const holds = ({ outputs }: Metafile, name: string, source: string) =>
  Object.keys(outputs[name]?.inputs ?? {}).some((input) => input.includes(source))

const kilobytes = ({ files }: BuiltPanel, names: readonly string[]) =>
  names
    .map((name) => gzipSync(files.get(name) ?? Buffer.alloc(0), { level: 9 }).length / 1000)
    .reduce((a, b) => a + b, 0)

test('the first load of the panel and that of a terminal stay within their budgets', () => {
  const first = firstLoad(panel, pageOf(panel))
  const later = terminal(panel, first)
  const [now, then] = [kilobytes(panel, first), kilobytes(panel, later)]
  console.info(`first load ${now.toFixed(1)} KB of ${FIRST_LOAD}, a terminal ${then.toFixed(1)} KB of ${TERMINAL} more`)

  expect(first.some((name) => name.endsWith('.css'))).toBe(true)
  expect(now).toBeGreaterThan(5)
  expect(now).toBeLessThanOrEqual(FIRST_LOAD)
  expect(then).toBeLessThanOrEqual(TERMINAL)
})

test('the first load contains no part of the terminal and no other language', () => {
  const first = firstLoad(panel, pageOf(panel))

  expect(first.filter((name) => holds(panel.metafile, name, '@xterm/'))).toEqual([])
  expect(first.filter((name) => holds(panel.metafile, name, 'panel/words/en'))).toEqual([])
  for (const words of [
    'access',
    'applications',
    'audit',
    'later-errors',
    'logs',
    'module',
    'notifications',
    'protection',
    'schedules',
    'setup',
    'terminal',
  ])
    expect(first.filter((name) => holds(panel.metafile, name, `panel/words/fr/${words}.ts`))).toEqual([])
  expect(first.filter((name) => holds(panel.metafile, name, 'panel/style/later/'))).toEqual([])
  expect(first.some((name) => holds(panel.metafile, name, 'panel/words/fr'))).toBe(true)
})

test('with the terminal included, the first load of the panel exceeds its budget', async () => {
  const root = await temporaryFolder()
  await cp(join(ROOT, 'panel'), join(root, 'panel'), { recursive: true })
  await cp(join(ROOT, 'client'), join(root, 'client'), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const main = join(root, 'panel/main.tsx')
  await writeFile(main, `import '@xterm/xterm'\n${await readFile(main, 'utf8')}`)
  const heavy = await buildPanel(root)

  const first = firstLoad(heavy, pageOf(heavy))

  expect(kilobytes(heavy, first)).toBeGreaterThan(FIRST_LOAD)
})

test('the page has no inline script, no inline style and no foreign address', () => {
  const page = pageOf(panel)

  expect(page).toMatch(/^<!doctype html>\n<html lang="fr">/i)
  expect(page).not.toMatch(/<script>|<style|style=| on\w+=|https?:|<!--/)
  expect(page).toContain('<meta name="color-scheme" content="dark light">')
  expect(page).toContain('<meta name="robots" content="noindex">')
  expect(page.match(/<meta name="theme-color"/g)).toHaveLength(2)
  expect(page).toMatch(/<noscript>[\s\S]*JavaScript[\s\S]*<p lang="en">[\s\S]*<\/noscript>/)
  expect(named(page).length).toBeGreaterThan(2)
  expect(named(page).filter((name) => !panel.files.has(name))).toEqual([])
})

test('two builds are equal, byte for byte, and contain nothing about the machine', async () => {
  const again = await buildPanel()

  expect([...again.files]).toEqual([...panel.files])
  for (const bytes of panel.files.values()) expect(Buffer.from(bytes).includes(ROOT)).toBe(false)
})

/** A panel of a few lines, in a folder of its own. */
async function smallPanel() {
  const root = await temporaryFolder()
  const write = (name: string, text: string) => writeFile(join(root, 'panel', name), text)
  await mkdir(join(root, 'panel/style'), { recursive: true })
  for (const name of ['index.html', 'icon.svg']) await cp(join(ROOT, 'panel', name), join(root, 'panel', name))
  await write('style/main.css', '@layer base { p { color: red } }')
  await write('shared.ts', 'export const word = "shared"')
  await write('later.ts', 'import { word } from "./shared.ts"\nexport const later = word + 1')
  await write(
    'main.tsx',
    'import { word } from "./shared.ts"\ndocument.title = word\nvoid import("./later.ts").then(console.log)',
  )
  return { root, write }
}

test('the page names the files that its script shares with other parts, but no file that loads later', async () => {
  const { root } = await smallPanel()

  const page = pageOf(await buildPanel(root))

  expect(page).toMatch(/<script type="module" src="\/panel\/main-\w+\.js">/)
  expect(page.match(/<link rel="modulepreload" href="\/panel\/(\w+)/g)).toHaveLength(1)
  expect(page).toMatch(/<link rel="stylesheet" href="\/panel\/main-\w+\.css">/)
  expect(page).not.toContain('later-')
})

test('the name of a file and of those that import it changes with its content, and no other name', async () => {
  const { root, write } = await smallPanel()
  const names = async () => new Map([...(await buildPanel(root)).files.keys()].map((name) => [kind(name), name]))
  const kind = (name: string) => basename(name).replace(/-\w+(?=\.\w+$)/, '')
  const before = await names()

  await write('shared.ts', 'export const word = "another"')
  const after = await names()

  const changed = [...before.keys()].filter((each) => before.get(each) !== after.get(each))
  expect(changed.sort()).toEqual(['chunk.js', 'later.js', 'main.js'])
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
})

test('the same sources in another folder give the same files', async () => {
  const [one, other] = [await smallPanel(), await smallPanel()]

  expect([...(await buildPanel(one.root)).files]).toEqual([...(await buildPanel(other.root)).files])
})

test('the check finds a terminal or another language in the first load', async () => {
  const { root, write } = await smallPanel()
  const files = { '@xterm/xterm.ts': 'xterm', 'words/en.ts': 'english' }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, 'panel', name, '..'), { recursive: true })
    await write(name, `document.title += ${JSON.stringify(text)}`)
  }
  await write('main.tsx', 'import "./@xterm/xterm.ts"\nimport "./words/en.ts"')
  const planted = await buildPanel(root)
  const first = firstLoad(planted, pageOf(planted))

  expect(first.some((name) => holds(planted.metafile, name, '@xterm/'))).toBe(true)
  expect(first.some((name) => holds(planted.metafile, name, 'panel/words/en'))).toBe(true)
  expect(terminal(planted, first)).toEqual([])
  expect(kilobytes(planted, first)).toBeGreaterThan(0)
})

test('a terminal that loads later is counted separately, with everything that it imports', async () => {
  const { root, write } = await smallPanel()
  await mkdir(join(root, 'panel/@xterm'))
  await write('@xterm/xterm.ts', 'import { word } from "../shared.ts"\nimport "./xterm.css"\nexport const x = word')
  await write('@xterm/xterm.css', 'p { color: blue }')
  await write('main.tsx', 'import "./shared.ts"\nvoid import("./@xterm/xterm.ts")')
  const built = await buildPanel(root)
  const first = firstLoad(built, pageOf(built))

  expect(terminal(built, first).map((name) => name.replace(/-\w+(?=\.)/, ''))).toEqual(
    expect.arrayContaining(['panel/xterm.css', 'panel/xterm.js']),
  )
})

test('a changed source causes a new build, and a page loaded before still finds its files', async () => {
  const { root, write } = await smallPanel()
  const asset = panelFrom(root)
  const text = async (name: string) => Buffer.from((await asset(name))?.bytes ?? []).toString()
  const script = async () =>
    named(await text(PANEL_PAGE)).find((name) => name.includes('/main-') && name.endsWith('.js')) ?? ''

  const before = await script()
  expect(await asset(PANEL_PAGE)).toBe(await asset(PANEL_PAGE))
  await write('main.tsx', 'document.title = "changed"')
  const after = await script()

  expect(after).not.toBe(before)
  expect(await text(after)).toContain('changed')
  expect(await text(before)).toContain('later-')
  expect(await asset('panel/nothing.js')).toBeUndefined()
})

test('an error in a source is reported with its line, and the next request uses the corrected source', async () => {
  const { root, write } = await smallPanel()
  const asset = panelFrom(root)
  await asset(PANEL_PAGE)

  await write('main.tsx', 'const = 1')
  await expect(asset(PANEL_PAGE)).rejects.toThrow('panel/main.tsx:1:6')
  await expect(asset(PANEL_PAGE)).rejects.toThrow('panel/main.tsx:1:6')
  await rm(join(root, 'panel/shared.ts'))
  await write('main.tsx', 'document.title = "mended"')

  expect(await asset(PANEL_PAGE)).toBeDefined()
})

test('a page without a mark for its files is not built', async () => {
  const { root, write } = await smallPanel()
  const page = await readFile(join(root, 'panel/index.html'), 'utf8')
  await write('index.html', page.replace('<!-- files -->', ''))

  await expect(buildPanel(root)).rejects.toThrow('panel/index.html')
})
