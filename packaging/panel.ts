import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { PANEL_FOLDER, PANEL_PAGE } from '../platform/asset-files.ts'

export const ROOT = join(import.meta.dirname, '..')
const [SCRIPT, STYLE, ICON, PAGE] = ['panel/main.tsx', 'panel/style/main.css', 'panel/icon.svg', 'panel/index.html']
/** The mark in the page that is replaced with the addresses of its files. */
const FILES_HERE = '<!-- files -->'

export interface BuiltPanel {
  /** The page and the files that it loads, each by its stored name. */
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
  /** All sources, including packages, relative to the project's folder. */
  inputs: readonly string[]
  metafile: Metafile
}

/** Builds the panel from a project's sources, reproducibly. Rejects with esbuild's own message. */
export async function buildPanel(root = ROOT): Promise<BuiltPanel> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [SCRIPT, STYLE, ICON],
    // Nothing is written there; the names in the metafile begin with it.
    outdir: PANEL_FOLDER,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'silent',
  })
  const files = new Map(
    outputFiles.map(({ path, contents }) => [`${PANEL_FOLDER}/${basename(path)}`, Uint8Array.from(contents)]),
  )
  files.set(PANEL_PAGE, new TextEncoder().encode(page(readFileSync(join(root, PAGE), 'utf8'), metafile)))
  return { files, inputs: [PAGE, ...Object.keys(metafile.inputs)], metafile }
}

/** Returns the page with the addresses of its first files. It contains no inline script and no inline style. */
function page(template: string, metafile: Metafile): string {
  if (!template.includes(FILES_HERE)) throw new Error(`${PAGE} does not say where its files belong`)
  const script = outputOf(metafile, SCRIPT)
  const styles = [outputOf(metafile, STYLE), ...[metafile.outputs[script]?.cssBundle ?? []].flat()]
  const lines = [
    `<link rel="icon" href="/${outputOf(metafile, ICON)}" type="image/svg+xml">`,
    ...styles.map((style) => `<link rel="stylesheet" href="/${style}">`),
    `<script type="module" src="/${script}"></script>`,
    ...importedBy(metafile, script).map((chunk) => `<link rel="modulepreload" href="/${chunk}">`),
  ]
  return template.replace(FILES_HERE, lines.join('\n    '))
}

function outputOf({ outputs }: Metafile, entry: string): string {
  const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? []
  if (path === undefined) throw new Error(`nothing is made of ${entry}`)
  return path
}

/** Returns the files that a script imports statically, at any depth, but not those that it imports dynamically. */
export function importedBy({ outputs }: Metafile, script: string): string[] {
  const found = new Set<string>()
  const look = (path: string) => {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(next)) continue
      found.add(next)
      look(next)
    }
  }
  look(script)
  return [...found].sort()
}
