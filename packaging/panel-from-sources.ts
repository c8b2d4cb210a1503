import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PANEL_PAGE } from '../platform/asset-files.ts'
import type { StoredAsset } from '../platform/asset-source.ts'
import { buildPanel, ROOT } from './panel.ts'

/** A file of the panel of this project. */
export const panelAsset = panelFrom(ROOT)

/** Builds the panel when it is first asked for, and anew when its page is asked for and a source has changed since. */
export function panelFrom(root: string): (name: string) => Promise<StoredAsset | undefined> {
  /** Of every build: a page that was loaded before a change still finds the rest of itself. */
  const assets = new Map<string, StoredAsset>()
  let building: Promise<void> | undefined
  /** What the last build was made of, as it was then. */
  let sources: ReadonlyMap<string, string> = new Map()

  const stamp = (path: string) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'gone'
  }
  const build = async () => {
    // As they were before: one that changes in the middle of the build is seen the next time.
    const before = new Map([...sources.keys()].map((path) => [path, stamp(path)]))
    const { files, inputs } = await buildPanel(root)
    for (const [name, bytes] of files) assets.set(name, { bytes, encoding: 'identity' })
    // Packages do not change while somebody works on the panel.
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
