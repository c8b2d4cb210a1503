/*
 * Places of faults in the code of a module, for its author: Node tells the place of a syntax error on its console alone,
 * and that of an `await` outside of a function to nobody.
 */

import { readFileSync } from 'node:fs'
import { Script } from 'node:vm'

/** Returns ` (backend.mjs:3:10)` for an error of a module's file; an empty text when its place is unknown. */
export function placeOf(error: unknown, path: string, file: string): string {
  if (!(error instanceof Error)) return ''
  if (error instanceof SyntaxError) {
    const found = scriptFault(path)
    return found?.message === error.message ? ` (${file}:${found.place})` : ''
  }
  const line = error.stack?.split('\n').find((each) => /^\s+at /.test(each) && each.includes(path))
  const place = line && /:(\d+:\d+)\)?$/.exec(line)?.[1]
  return place ? ` (${file}:${place})` : ''
}

/** Returns the place of an `await` outside of a function, as `backend.mjs:3:10`; undefined when there is none. */
export function waitPlace(path: string, file: string): string | undefined {
  const found = scriptFault(path)
  return found && /^await is only valid in async functions/.test(found.message) ? `${file}:${found.place}` : undefined
}

/**
 * Compiles a file as a script, which tells the place of its fault. The imports and exports of a module are replaced by
 * something of the same length; a fault that only a script has is told, too.
 */
function scriptFault(path: string): { message: string; place: string } | undefined {
  try {
    const code = readFileSync(path, 'utf8')
      .replace(/^#!.*/, blank)
      .replace(/^[^\S\n]*import\b[^'"();]{0,5000}(['"])[^'"\n]*\1/gm, blank)
      .replace(/^[^\S\n]*export\s{0,100}\{[^}]{0,5000}\}/gm, blank)
      .replace(/\bexport\s+default\b/g, (found) => `;_=${blank(found).slice(3)}`)
      .replace(/^[^\S\n]*export\b/gm, blank)
      .replaceAll('import.meta', '(process)  ')
    new Script(`'use strict'\n${code}`, { filename: 'module', lineOffset: -1 })
    return undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) return undefined
    const [, line, caret = ''] = /^module:(\d+)\n.*\n( *)\^/.exec(error.stack ?? '') ?? []
    return line === undefined ? undefined : { message: error.message, place: `${line}:${caret.length + 1}` }
  }
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ')
