import { assetAddress } from '../../runtime/asset.ts'

/** The folder of the page's files. Links are relative to the page. */
const FOLDER = 'docs'

/**
 * The page's content security policy: it shows and uses this service only. Swagger UI embeds its icons as data URLs in
 * its styles.
 */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

let page: Promise<string> | undefined

/** Returns the page that shows the OpenAPI document. Its files do not change while the service runs. */
export function docsPage(): Promise<string> {
  page ??= made().catch((error: unknown) => {
    page = undefined
    throw error
  })
  return page
}

async function made(): Promise<string> {
  const [ui, own, look, start] = await Promise.all([
    assetAddress(FOLDER, 'swagger-ui.css'),
    assetAddress(FOLDER, 'docs.css'),
    assetAddress(FOLDER, 'swagger-ui.js'),
    assetAddress(FOLDER, 'docs.js'),
  ])
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>ops-panel: API</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${ui}">
  <link rel="stylesheet" href="${own}">
</head>
<body>
  <nav>ops-panel <a href="openapi.json">openapi.json</a> <a href="asyncapi.json">asyncapi.json (WebSockets)</a></nav>
  <main id="docs"></main>
  <script src="${look}"></script>
  <script src="${start}"></script>
</body>
</html>
`
}
