/** What is served as it is, by the name in its address: where it lies in the project. build.mjs puts it into what it makes. */
export const ASSET_FILES = {
  'docs.css': 'functions/documents/docs.css',
  'docs.js': 'functions/documents/docs.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'swagger-ui.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
} as const

/** The panel's own page, which packaging/panel.ts makes; what it loads is kept in this folder, by names that change with it. */
export const PANEL_PAGE = 'panel.html'
export const PANEL_FOLDER = 'panel'
