import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { App, Bindings } from './app.ts'
import { ANSWER_HEADERS } from './headers.ts'

/** How long a browser may remember a preflight's answer: Chromium's longest. */
const PREFLIGHT_SECONDS = 7_200

/** Opens an app to the pages of some other origins; every other request goes straight to it. */
export function openTo(origins: ReadonlySet<string>, app: App): App {
  if (origins.size === 0) return app
  const open = new Hono<{ Bindings: Bindings }>()
  open.use(async (c, next) => {
    await next()
    if (c.req.method !== 'OPTIONS') return
    const { 'content-type': _, ...headers } = ANSWER_HEADERS
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    c.header('x-request-id', randomUUID())
  })
  open.use(
    cors({
      origin: (origin) => origin,
      credentials: true,
      allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowHeaders: ['Authorization', 'Content-Type'],
      exposeHeaders: ['X-Request-Id', 'Retry-After', 'Allow'],
      maxAge: PREFLIGHT_SECONDS,
    }),
  )
  open.all('*', ({ req, env }) => app.fetch(req.raw, env))
  return {
    fetch(request, bindings) {
      const origin = bindings?.incoming ? bindings.incoming.headers.origin : request.headers.get('origin')
      return origin && origins.has(origin) ? open.fetch(request, bindings) : app.fetch(request, bindings)
    },
  }
}
