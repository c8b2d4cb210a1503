import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PANEL_PAGE } from '../runtime/asset-files.ts'
import type { StoredAsset } from '../runtime/asset-source.ts'
import { buildPanel, ROOT } from './panel.ts'

/** A file is dated by the kernel's last tick, which is up to 10 ms ago: what changes right after a build is dated before it. */
const TICK_MS = 20

/** A file of the panel of this project. */
export const panelAsset = panelFrom(ROOT)

/** Builds the panel when it is first asked for, and anew when its page is asked for and a source has changed since. */
export function panelFrom(root: string): (name: string) => Promise<StoredAsset | undefined> {
  /** Of every build: a page that was loaded before a change still finds the rest of itself. */
  const assets = new Map<string, StoredAsset>()
  let building: Promise<void> | undefined
  let sources: readonly string[] = []
  let builtAt = 0

  const build = async () => {
    const began = Date.now()
    const { files, inputs } = await buildPanel(root)
    for (const [name, bytes] of files) assets.set(name, { bytes, encoding: 'identity' })
    // Packages do not change while somebody works on the panel.
    sources = inputs.filter((path) => !path.includes('node_modules/'))
    builtAt = began
  }
  const hasChanged = (path: string) =>
    (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? builtAt) >= builtAt - TICK_MS

  return async (name) => {
    if (building || assets.size === 0 || (name === PANEL_PAGE && sources.some(hasChanged))) {
      building ??= build().finally(() => {
        building = undefined
      })
      await building
    }
    return assets.get(name)
  }
}
