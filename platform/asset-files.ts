/** Static files: the name in the address, and the path in the project. build.mjs embeds them in what it builds. */
export const ASSET_FILES = {
  'docs.css': 'functions/documents/docs.css',
  'docs.js': 'functions/documents/docs.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'swagger-ui.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
} as const

/**
 * The page of the panel, which packaging/panel.ts builds. Its other files are in this folder; their names contain a
 * hash.
 */
export const PANEL_PAGE = 'panel.html'
export const PANEL_FOLDER = 'panel'

/** A file as it is stored. */
export interface StoredAsset {
  bytes: Uint8Array<ArrayBuffer>
  encoding: 'br' | 'identity'
}
