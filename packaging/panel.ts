import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { PANEL_FOLDER, PANEL_PAGE } from '../platform/asset-files.ts'

export const ROOT = join(import.meta.dirname, '..')
const [SCRIPT, STYLE, ICON, PAGE] = ['panel/main.tsx', 'panel/style/main.css', 'panel/icon.svg', 'panel/index.html']
/** In the page, in the place of which its files are named. */
const FILES_HERE = '<!-- files -->'

export interface BuiltPanel {
  /** The page, and what it loads: each by the name that it is kept under. */
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
  /** The sources of it all, packages included, from the project's folder. */
  inputs: readonly string[]
  metafile: Metafile
}

/** Builds the panel of a project's sources, the same byte for byte each time. Rejects with esbuild's own message. */
export async function buildPanel(root = ROOT): Promise<BuiltPanel> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [SCRIPT, STYLE, ICON],
    // Nothing is written there; it is what the names in the metafile begin with.
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

/** The page with the addresses of what it needs to begin with. No text of it is a script or a style. */
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

/** What a script cannot begin without, however deep: not what it imports when it is needed. */
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
