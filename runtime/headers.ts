import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'

/**
 * What every answer of the API tells a browser: it is no page, it is not kept, framed, sniffed or embedded. Taken from
 * the middleware once, because passing each request through it costs a small one a tenth of its time. No
 * `Strict-Transport-Security`: it would speak for every other service of the same host name.
 */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  ...(await headersOf(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
      xFrameOptions: 'DENY',
      strictTransportSecurity: false,
      // Of a page only.
      crossOriginOpenerPolicy: false,
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  )),
}

async function headersOf(middleware: ReturnType<typeof secureHeaders>): Promise<Record<string, string>> {
  const app = new Hono().use(middleware).get('/', () => new Response())
  return Object.fromEntries((await app.request('/')).headers)
}
