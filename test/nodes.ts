import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const machine = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((file) => !file.includes('node_modules') && existsSync(file))

/** The project's own Node, and the machine's, which npm scripts hide behind it. */
export const nodes = [...new Set([process.execPath, machine ?? process.execPath])]
