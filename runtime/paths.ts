/*
 * The addresses of functions for the routers of the pipeline.
 */
import type { AnyFunction } from './function.ts'

/** All addresses of a function. */
export function pathsOf({ path, alsoAt = [] }: AnyFunction): string[] {
  return [path, ...alsoAt]
}

/** The methods of each address. */
export function methodsByPath(functions: readonly AnyFunction[]): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  for (const fn of functions) for (const path of pathsOf(fn)) paths.set(path, [...(paths.get(path) ?? []), fn.method])
  return paths
}

/**
 * Separates the functions whose addresses clash: where one has a word, such as `/api/schedules/preview`, another has a
 * parameter, such as `/api/schedules/:id`. RegExpRouter refuses such pairs. Of those, words come before parameters.
 */
export function apart(functions: readonly AnyFunction[]): { plain: AnyFunction[]; clashing: AnyFunction[] } {
  const words = new Map<string, Set<string>>()
  const steps = functions.flatMap((fn) => pathsOf(fn).flatMap(stepsOf))
  for (const { before, word } of steps) words.set(before, (words.get(before) ?? new Set()).add(word))
  const isMixed = (seen: ReadonlySet<string> = new Set()) => seen.has(PARAMETER) && seen.size > 1
  const clashes = (fn: AnyFunction) =>
    pathsOf(fn).some((path) => stepsOf(path).some(({ before }) => isMixed(words.get(before))))
  const late = ({ path }: AnyFunction) => path.replaceAll('/:', '/~')
  return {
    plain: functions.filter((fn) => !clashes(fn)),
    clashing: functions.filter(clashes).sort((a, b) => (late(a) < late(b) ? -1 : 1)),
  }
}

const PARAMETER = ':'

/** The words of an address, each with those before it. */
function stepsOf(path: string): { before: string; word: string }[] {
  const parts = path.split('/').map((part) => (part.startsWith(':') ? PARAMETER : part))
  // The slash at the end of `/api/docs/` is no word.
  return parts.map((word, at) => ({ before: parts.slice(0, at).join('/'), word })).filter(({ word }) => word !== '')
}
