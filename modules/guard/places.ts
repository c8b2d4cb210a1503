import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NOTE_TEXT } from './notes.ts'

/** A module that the guard watches. `release` is `updated_at` of its record; `homes` are the beginnings of its addresses. */
export interface Watched {
  id: string
  release: string
  homes: readonly string[]
}

/** Code of a module: `place` is its file and line inside the module's folder. */
export interface Found {
  module: Watched
  place: string
}

/** Returns a module as the guard watches it. Code has the address of a path or a URL, with and without links. */
export function watched(folder: string, { id, updated_at }: { id: string; updated_at: string }): Watched {
  const homes = new Set<string>()
  for (const path of [folder, realPath(folder)]) {
    const home = join(path, id) + sep
    homes.add(home).add(pathToFileURL(home).href)
  }
  return { id, release: updated_at, homes: [...homes] }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** Returns the first line of a stack that lies in a module. The lines before the stack, its message, do not count. */
export function findInStack(stack: string, modules: readonly Watched[]): Found | undefined {
  for (const line of stack.split('\n')) {
    if (!/^\s+at /.test(line)) continue
    for (const module of modules) {
      const home = module.homes.find((each) => line.includes(each))
      if (home === undefined) continue
      const rest = line.slice(line.indexOf(home) + home.length).replace(/\)$/, '')
      return { module, place: rest.slice(0, NOTE_TEXT) }
    }
  }
  return undefined
}

/** Returns the module that an address of code lies in. */
export function ownerOf(url: string, modules: readonly Watched[]): Watched | undefined {
  return modules.find(({ homes }) => homes.some((home) => url.startsWith(home)))
}
