import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Returns the files of the project that a source imports, types included. */
export function importsOf(path: string, code: string): string[] {
  const named = code.matchAll(/\b(?:from|import|require)\s*\(?\s*(['"`])(\.{1,2}\/[^'"`\n]+)\1/g)
  return [...named].map(([, , target = '']) => posix.join(posix.dirname(path), target))
}

/** Returns the dynamic imports whose argument is not one literal, each from its `import` to the end of its line. */
export function openImportsOf(code: string): string[] {
  const open = code.matchAll(/(?<![\w.])import\s*\(\s*(?!(['"`])(?:(?!\1|\$\{)[^\n])*\1\s*[,)])[^\n]*/g)
  return [...open].map(([found]) => found)
}

export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

export function sources(...rooms: string[]): [path: string, source: string][] {
  return rooms.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(tsx?|[cm]js)$/.test(file))
      .map((file): [string, string] => {
        const full = join(ROOT, room, file)
        return [relative(ROOT, full), readFileSync(full, 'utf8')]
      }),
  )
}
