import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PANEL_PAGE, type StoredAsset } from '../platform/asset-files.ts'
import { buildPanel, ROOT } from './panel.ts'

/** Returns a file of this project's panel. */
export const panelAsset = panelFrom(ROOT)

/** Builds the panel at the first request, and again when its page is requested after a source has changed. */
export function panelFrom(root: string): (name: string) => Promise<StoredAsset | undefined> {
  /** The files of every build, so that a page loaded before a change still finds its other files. */
  const assets = new Map<string, StoredAsset>()
  let building: Promise<void> | undefined
  /** The sources of the last build, with their state before it. */
  let sources: ReadonlyMap<string, string> = new Map()

  const stamp = (path: string) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'gone'
  }
  const build = async () => {
    // The state before the build: a source that changes during the build causes the next one.
    const before = new Map([...sources.keys()].map((path) => [path, stamp(path)]))
    const { files, inputs } = await buildPanel(root)
    for (const [name, bytes] of files) assets.set(name, { bytes, encoding: 'identity' })
    // Packages do not change during work on the panel.
    const own = inputs.filter((path) => !path.includes('node_modules/'))
    sources = new Map(own.map((path) => [path, before.get(path) ?? stamp(path)]))
  }
  const hasChanged = () => [...sources].some(([path, as]) => stamp(path) !== as)

  return async (name) => {
    if (building || assets.size === 0 || (name === PANEL_PAGE && hasChanged())) {
      building ??= build().finally(() => {
        building = undefined
      })
      await building
    }
    return assets.get(name)
  }
}
