// Makes the package of types for authors of modules: node packaging/module-package.ts
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MODULE_TYPES } from '../functions/authors/module-types.ts'
import { VERSION } from '../platform/program.ts'

const README = `# ops-panel-module

Types for modules of ops-panel. In \`backend.mjs\`:

\`\`\`js
/** @import { Kit } from 'ops-panel-module' */

/** @param {Kit} kit */
export default ({ z, defineFunction }) => []
\`\`\`
`

/** Writes the package to `folder`, and removes the folder's earlier contents. */
export async function buildModuleTypes(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const about = {
    name: 'ops-panel-module',
    version: VERSION,
    description: 'Types for modules of ops-panel',
    license: 'MIT',
    type: 'module',
    types: './index.d.ts',
    peerDependencies: { zod: '^4' },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
  await writeFile(join(folder, 'index.d.ts'), MODULE_TYPES)
  await writeFile(join(folder, 'README.md'), README)
}

if (import.meta.main) await buildModuleTypes(join(import.meta.dirname, '../dist/module'))
