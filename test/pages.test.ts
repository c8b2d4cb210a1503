import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { commands, functions, sockets } from '../functions/index.ts'
import { VARIABLES } from '../platform/config.ts'
import { runProgram } from './serve/program.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['.', 'docs', 'docs/decisions', 'client', 'examples', 'examples/module-hello', 'test']

const pages = new Map(
  FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.md'))
    .map((path): [string, string] => [path, readFileSync(join(ROOT, path), 'utf8')]),
)
const page = (path: string) => pages.get(path) ?? ''

/** Returns the anchor of a heading, as forges build it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

/** Returns the broken links into the project. */
function deadLinks([path, text]: [string, string]): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))
    .filter((target) => {
      const [file = '', heading] = target.split('#')
      const full = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file))
      if (!existsSync(join(ROOT, full))) return true
      const headings = [...page(full).matchAll(/^#+ (.*)$/gm)].map(([, each = '']) => anchor(each))
      return heading !== undefined && !headings.includes(heading)
    })
    .map((target) => `${path} → ${target}`)
}

test('no link of the documentation is broken', () => {
  expect(pages.size).toBeGreaterThan(20)
  expect([...pages].flatMap(deadLinks)).toEqual([])
})

test.each(['nothing.md', '#no-such-heading', 'docs/api.md#no-such-heading'])('a link to %s is found', (target) => {
  expect(deadLinks(['README.md', `[here](${target})`])).toEqual([`README.md → ${target}`])
})

test('the page about the API names exactly the endpoints and sockets that exist', () => {
  const named = [...page('docs/api.md').matchAll(/^\| (`[^|]+) \|[^|]*\|[^|]*\|$/gm)].flatMap(([, cell = '']) =>
    endpointsOf(cell),
  )
  const endpoints = functions.map(({ method, path }) => `${method} ${written(path)}`)

  expect(named.sort()).toEqual([...endpoints, ...sockets.map(({ path }) => `GET ${written(path)}`)].sort())
})

const written = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

/** Returns the addresses in `GET`, `PUT /path?query=`, and in `POST /path/enable`, `…/disable`. */
function endpointsOf(cell: string): string[] {
  const words = [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word.replace(/\?.*$/, ''))
  const [, lastPath = ''] = words.findLast((word) => word.includes(' /'))?.split(' ') ?? []
  const [first = ''] = words
  return words.map((word) => {
    if (word.startsWith('…')) return first.replace(/\/[^/]+$/, word.slice(1))
    return word.includes(' ') ? word : `${word} ${lastPath}`
  })
}

test('the guide names exactly the variables that exist', () => {
  const [, section = ''] = page('docs/operate.md').split('\n## Variables\n')
  const [table = ''] = section.split('\n## ')
  const named = [...table.matchAll(/^\| ((?:`PANEL_\w+`(?:, )?)+) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\w+/g) ?? [],
  )

  expect(named.sort()).toEqual([...VARIABLES].sort())
})

test('the help and the settings of the Debian package name each variable', async () => {
  const { stdout: help } = await runProgram({}, '--help')
  const settings = ['ops-panel.env', 'ops-panel.service'].map((file) =>
    readFileSync(join(ROOT, 'packaging/debian', file), 'utf8'),
  )
  const missing = (text: string) => [...VARIABLES].filter((name) => !new RegExp(`${name}\\b`).test(text))

  expect(missing(help)).toEqual([])
  expect(missing(settings.join('\n'))).toEqual([])
}, 60_000)

test('commands in the documentation exist', () => {
  // `settings get`, and `settings` for all commands that begin with it.
  const known = new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? '']))
  const typed = [...pages.values()].flatMap((text) =>
    [...text.matchAll(/(?:`|^|exec \S+ )(?:node dist\/)?ops-panel(?:\.mjs)? ([a-z]+(?: [a-z]+)?)/gm)].map(
      ([, words = '']) => words,
    ),
  )
  const unknown = typed.filter((words) => !known.has(words) && !known.has(words.split(' ')[0] ?? ''))

  expect(typed.length).toBeGreaterThan(10)
  expect([...new Set(unknown)]).toEqual([])
})
