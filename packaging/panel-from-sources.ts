import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PANEL_PAGE } from '../runtime/asset-files.ts'
import type { StoredAsset } from '../runtime/asset-source.ts'
import { buildPanel, ROOT } from './panel.ts'

/** Every file of every build: a page that was loaded before a change still finds the rest of itself. */
const assets = new Map<string, StoredAsset>()
let building: Promise<void> | undefined
let sources: readonly string[] = []
let builtAt = 0

/** A file of the panel. Asking for its page builds it anew if a source has changed since. */
export async function panelAsset(name: string): Promise<StoredAsset | undefined> {
  if (building || assets.size === 0 || (name === PANEL_PAGE && hasChanged())) {
    building ??= renew().finally(() => {
      building = undefined
    })
    await building
  }
  return assets.get(name)
}

async function renew(): Promise<void> {
  const began = Date.now()
  const { files, inputs } = await buildPanel()
  for (const [name, bytes] of files) assets.set(name, { bytes, encoding: 'identity' })
  // Packages do not change while somebody works on the panel.
  sources = inputs.filter((path) => !path.startsWith('node_modules/'))
  builtAt = began
}

function hasChanged(): boolean {
  return sources.some((path) => (statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? builtAt) >= builtAt)
}
