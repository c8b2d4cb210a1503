// Makes the package of the typed client: node packaging/client-package.ts
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')

/** Writes the package, one module and its types, to `folder`, and removes the folder's earlier contents. */
export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await Promise.all([
    build({
      absWorkingDir: ROOT,
      entryPoints: ['client/index.ts'],
      outfile: join(folder, 'index.js'),
      bundle: true,
      format: 'esm',
      target: 'es2022',
    }),
    declarations(folder),
    cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE')),
    ...['package.json', 'README.md'].map((file) => cp(join(ROOT, 'client', file), join(folder, file))),
  ])
}

async function declarations(folder: string): Promise<void> {
  const options = ['-p', join(ROOT, 'client/tsconfig.json'), '--outDir', folder]
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), options, { cwd: ROOT })
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.d.ts'))) {
    const text = await readFile(join(folder, file), 'utf8')
    // The compiler keeps the imports of `.ts` files, which the package does not contain.
    await writeFile(join(folder, file), text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
}

if (import.meta.main) await buildClient(join(ROOT, 'dist/client'))
