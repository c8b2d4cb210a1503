import type { Failure } from '../../runtime/errors.ts'

/** Returns the error page shown instead of the panel. For a temporary error the page reloads itself. */
export function refusalPage({ message, retryAfter }: Failure): string {
  const again = retryAfter === undefined ? '' : `\n    <meta http-equiv="refresh" content="${retryAfter}">`
  const when = retryAfter === undefined ? 'Try again in a moment.' : `This page tries again in ${retryAfter} s.`
  return `<!doctype html>
<html lang="fr">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="dark light">
    <meta name="robots" content="noindex">${again}
    <title>ops-panel</title>
  </head>
  <body>
    <p>${message}</p>
    <p lang="en">The panel cannot be shown now. ${when}</p>
  </body>
</html>
`
}
