import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { MODULE_TYPES } from './module-types.ts'
import { skeleton } from './skeleton.ts'

/** Writes the files of a new module: the smallest one with a page and a button. */
export default defineCommand({
  name: 'modules init',
  summary: 'commencer un module dans un nouveau dossier',
  data: 'none',
  args: ['dossier'],

  async run({ args: [typed = ''] }) {
    const folder = resolve(typed)
    const id = basename(folder)
    if (!/^[a-z][a-z0-9-]{0,62}$/.test(id))
      throw new CommandError(
        `« ${id} » ne peut pas être le nom d’un module : des minuscules, des chiffres et des tirets.`,
      )
    await mkdir(folder, { recursive: true })
    const there = (await readdir(folder)).filter((name) => !name.startsWith('.'))
    if (there.length > 0) throw new CommandError(`${folder} n’est pas vide.`)
    const files = { ...skeleton(id), 'ops-panel-module.d.ts': MODULE_TYPES }
    for (const [name, text] of Object.entries(files))
      await writeFile(join(folder, name), text, { flag: 'wx', mode: 0o644 })
    return `${Object.keys(files).join(', ')} dans ${folder}.\nPour l’essayer : ops-panel modules dev ${typed}`
  },
})
