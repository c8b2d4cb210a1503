/** A page of a module that tries what a sandbox must refuse, and writes what came of it. */
export const HOSTILE = {
  'web/index.html':
    '<!doctype html><meta charset="utf-8"><form id="form" action="/api/auth/logout" method="post"></form><pre id="told"></pre><script src="app.js"></script>',
  'web/app.js': `
const told = {}
const attempt = async (name, does) => {
  try { told[name] = String(await does()) } catch (error) { told[name] = error.name }
}
let last = 0
const ask = (call, more = {}) => new Promise((resolve) => {
  const id = ++last
  addEventListener('message', function heard({ data }) {
    if (data?.panel !== 1 || data.id !== id) return
    removeEventListener('message', heard)
    resolve(data.error ? data.error.code : JSON.stringify(data.data))
  })
  parent.postMessage({ panel: 1, id, call, ...more }, '*')
})
const loop = {}
loop.loop = loop
const started = async () => {
  await attempt('origin', () => origin)
  await attempt('cookie', () => document.cookie)
  await attempt('set cookie', () => { document.cookie = 'svc_refresh=stolen; path=/' ; return 'set' })
  await attempt('local storage', () => localStorage.length)
  await attempt('session storage', () => sessionStorage.length)
  await attempt('database', () => indexedDB.open('x').name ?? 'opened')
  await attempt('service worker', () => navigator.serviceWorker ? navigator.serviceWorker.register('app.js') : 'none')
  await attempt('document of the panel', () => parent.document.title)
  await attempt('function of the panel', () => parent.fetch('/api/auth/refresh', { method: 'POST' }))
  await attempt('address of the panel', () => parent.location.href)
  await attempt('navigation of the panel', () => { top.location.href = '/audit'; return 'navigated' })
  await attempt('window', () => open('/audit') === null ? 'none' : 'opened')
  await attempt('fetch', () => fetch('/api/modules'))
  await attempt('fetch with the cookie', () => fetch('/api/auth/refresh', { method: 'POST', credentials: 'include' }))
  await attempt('foreign fetch', () => fetch('http://localhost:9/'))
  await attempt('request', () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.onload = () => resolve('read')
    request.onerror = () => reject(new TypeError())
    request.open('GET', '/api/modules')
    request.send()
  }))
  await attempt('eval', () => (0, eval)('1'))
  await attempt('form', () => { form.submit(); return 'sent' })
  await attempt('own call', () => ask('GET /api/modules/probe/list'))
  await attempt('call of another module', () => ask('POST /api/modules/other/x'))
  await attempt('removal', () => ask('DELETE /api/repair/modules/probe'))
  await attempt('disabling', () => ask('POST /api/modules/probe/disable'))
  await attempt('disabling by an id', () => ask('POST /api/modules/{id}/disable', { params: { id: 'other' } }))
  await attempt('another method', () => ask('POST /api/modules/probe/list'))
  await attempt('a path that leads up', () => ask('GET /api/modules/probe/../../auth/me'))
  await attempt('a parameter that leads up', () => ask('GET /api/modules/probe/item/:id', { params: { id: '..' } }))
  await attempt('a parameter with a slash', () => ask('GET /api/modules/probe/item/:id', { params: { id: '../../other/x' } }))
  await attempt('a parameter of the panel', () => ask('POST /api/modules/probe/:id', { params: { id: 'disable' } }))
  await attempt('me', () => ask('GET /api/auth/me'))
  await attempt('a long message', () => ask('GET /api/modules/probe/list', { body: 'x'.repeat(70000) }))
  await attempt('a message with a loop', () => ask('GET /api/modules/probe/list', { body: loop }))
  await attempt('a message with bytes', () => ask('GET /api/modules/probe/list', { body: new Uint8Array(9) }))
  await attempt('a long answer', () => ask('GET /api/modules/probe/long'))
  await attempt('too many calls', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, () => ask('GET /api/modules/probe/list')))
    return all.includes('busy')
  })
  document.querySelector('#told').textContent = JSON.stringify(told)
}
started()
`,
}

export const PROBE = `let seen = []
export default ({ z, defineFunction }) => [
  defineFunction({
    method: 'GET', path: '/api/modules/probe/list', auth: 'user', rateLimit: false, response: z.object({ user: z.string() }),
    handler: (_, { user }) => ({ user: user.username }),
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/item/:id', auth: 'user', rateLimit: false, response: z.object({ id: z.string() }),
    request: { params: z.object({ id: z.string() }) }, handler: ({ params }) => params,
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/proof', auth: 'admin', stepUp: true, rateLimit: false,
    response: z.object({ proven: z.boolean() }), handler: () => ({ proven: true }),
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/long', auth: 'user', rateLimit: false, response: z.string(),
    handler: () => 'x'.repeat(1024 * 1024 + 1),
  }),
  defineFunction({
    method: 'POST', path: '/api/modules/probe/:id', auth: 'user', rateLimit: false, audit: false,
    response: z.object({ id: z.string() }), request: { params: z.object({ id: z.string() }) },
    handler: ({ params }) => params,
  }),
]`

/** A module that tells how often it was called. */
export const OTHER = `let calls = 0
export default ({ z, defineFunction }) => [
  defineFunction({
    method: 'POST', path: '/api/modules/other/x', auth: 'user', rateLimit: false, audit: false, response: z.object({}),
    handler: () => { calls += 1; return {} },
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/other/calls', auth: 'user', rateLimit: false, response: z.number(), handler: () => calls,
  }),
]`

const REFUSED = ['SecurityError', 'TypeError', 'EvalError', 'NetworkError', 'DataCloneError', 'NotAllowedError']

/** Whether the sandbox refused this attempt. */
export const isRefused = (told: string | undefined) => told !== undefined && REFUSED.includes(told)

/** A page that calls an endpoint with a proof at its start and at each click, and logs each answer. */
export const ASKING = {
  'web/index.html': '<!doctype html><button>Prove</button><script src="app.js"></script>',
  'web/app.js': `
addEventListener('message', ({ data }) => {
  if (data?.panel === 1 && data.id) console.log('told ' + (data.error?.code ?? JSON.stringify(data.data)))
})
const ask = () => parent.postMessage({ panel: 1, id: 1, call: 'GET /api/modules/probe/proof' }, '*')
document.querySelector('button').addEventListener('click', ask)
ask()`,
}
