/**
 * What every answer of the API tells a browser: it is no page, it is not kept, framed, sniffed or embedded. Written out rather
 * than set by a middleware, which would cost a small request a tenth of its time. No `Strict-Transport-Security`: it
 * would speak for every other service of the same host name.
 */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
