import type { Context as HonoContext } from 'hono'

/** Whether a browser navigates to this address. Requests under `/api` and `/ws` never count as navigation. */
export function isNavigation({ req }: HonoContext): boolean {
  if (req.method !== 'GET' || /^\/(api|ws)(\/|$)/.test(req.path)) return false
  const mode = req.header('sec-fetch-mode')
  return (mode === undefined || mode === 'navigate') && req.header('accept')?.includes('text/html') === true
}

/** Returns the page with status 404. Browsers must not cache it, because the address may exist later. */
export async function withStatus404(page: Promise<Response>): Promise<Response> {
  const { status, body, headers } = await page
  if (status !== 200) return page
  const more = new Headers(headers)
  more.delete('etag')
  more.set('cache-control', 'no-store')
  return new Response(body, { status: 404, headers: more })
}
