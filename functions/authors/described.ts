import type { CheckedFolder } from './check-folder.ts'

/** Returns what was found, a line for each part of the module. */
export function described({ descriptor, files, found }: CheckedFolder): string[] {
  if (!descriptor) return []
  const { id, name, version, nav, page } = descriptor
  const width = Math.max(0, ...(found?.functions ?? []).map(({ path }) => path.length))
  const endpoints = (found?.functions ?? []).map(({ method, path, auth, stepUp, limit }) => {
    const who = stepUp ? `${auth}, preuve récente` : auth
    return `  ${method.padEnd(6)} ${path.padEnd(width)}  ${who}, ${limit}`
  })
  const bytes = [...files.values()].reduce((sum, file) => sum + file.length, 0)
  return [
    `${name} ${version} (${id}), ${files.size} fichier${files.size > 1 ? 's' : ''}, ${Math.ceil(bytes / 1024)} Kio`,
    ...(nav ? [`  menu : ${nav.label}, ${nav.href}`] : []),
    ...endpoints,
    ...(found && found.sections !== null ? [`  page : ${found.sections} section${found.sections > 1 ? 's' : ''}`] : []),
    ...(page ? [`  page en cadre : ${page.files.join(', ')}`] : []),
    ...(found && found.settings.length > 0
      ? [`  réglages : ${found.settings.map((each) => (each.secret ? `${each.name} (secret)` : each.name)).join(', ')}`]
      : []),
    ...(found?.tasks ?? []).map((task) => `  tâche ${task.name}, toutes les ${task.every} s`),
  ]
}
