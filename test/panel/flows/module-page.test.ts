import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { withModules } from './with-modules.ts'

const CODE = `let sites = [{ id: 1, name: '<img src=x onerror=alert(1)>', size: 2048 }, { id: 2, name: 'two', size: 5 }]
let settings = { host: 'a.example', port: 443, mode: 'fast', token_set: true }
const write = { auth: 'operator', rateLimit: false, audit: false }
export default ({ z, defineFunction, definePage }) => [
  defineFunction({
    method: 'GET', path: '/api/modules/sites/list', auth: 'user', targets: 'none', rateLimit: false,
    response: z.object({ items: z.array(z.object({ id: z.number(), name: z.string(), size: z.number() })) }),
    handler: () => ({ items: sites }),
  }),
  defineFunction({
    ...write, method: 'DELETE', path: '/api/modules/sites/list/:id', request: { params: z.object({ id: z.string() }) },
    response: z.object({ message: z.string() }),
    handler({ params }) { sites = sites.filter(({ id }) => String(id) !== params.id); return { message: 'Gone ' + params.id } },
  }),
  defineFunction({
    ...write, method: 'POST', path: '/api/modules/sites/many', response: z.object({}),
    handler() { sites = Array.from({ length: 10000 }, (_, id) => ({ id, name: 'site ' + id, size: id })); return {} },
  }),
  defineFunction({
    ...write, method: 'POST', path: '/api/modules/sites/fail', response: z.object({}), errors: ['not_found'],
    handler(_, { fail }) { throw fail('not_found') },
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/sites/settings', auth: 'admin', rateLimit: false,
    response: z.object({ host: z.string(), port: z.number(), mode: z.string(), token_set: z.boolean() }),
    handler: () => settings,
  }),
  defineFunction({
    ...write, auth: 'admin', method: 'PUT', path: '/api/modules/sites/settings',
    request: { body: z.object({
      host: z.string().min(1).meta({ title: 'Host' }), port: z.int().min(1).max(65535), mode: z.enum(['fast', 'safe']),
      token: z.string().optional(),
    }) },
    response: z.object({}),
    handler({ body }) { settings = { ...settings, ...body }; return {} },
  }),
  definePage({
    title: { fr: 'Mes sites', en: 'My sites' },
    sections: [
      { kind: 'text', text: '<b>plain</b>' },
      {
        kind: 'table', title: 'Sites', from: 'GET /api/modules/sites/list', rows: 'items', key: 'id',
        columns: [{ field: 'name', label: 'Name' }, { field: 'size', label: 'Size', as: 'bytes' }, { field: 'id', label: 'Donaudampfschifffahrtsnummer' }],
        actions: [{ label: 'Remove', call: 'DELETE /api/modules/sites/list/:id', confirm: 'Really?', danger: true }],
      },
      { kind: 'action', label: 'Many', call: 'POST /api/modules/sites/many' },
      { kind: 'action', label: 'Fail', call: 'POST /api/modules/sites/fail' },
      {
        kind: 'form', title: 'Settings', call: 'PUT /api/modules/sites/settings', from: 'GET /api/modules/sites/settings',
        fields: [{ field: 'host' }, { field: 'port' }, { field: 'mode' }, { field: 'token', as: 'password' }],
      },
    ],
  }),
]`

const NAV = { nav_label: 'Mes sites', nav_icon: 'globe', nav_href: '/modules/sites', nav_order: 5 }

async function opened(name: 'demo' | 'guest' = 'demo') {
  const { service } = await withModules({ sites: { code: CODE, nav: NAV } })
  // Chromium reports the refusal that a test asks for.
  const page = await openPage(service.url, { expected: /status of 404/ })
  await signIn(page, name)
  const entry = page.locator('.side').getByRole('link', { name: 'Mes sites', exact: true })
  await entry.click()
  await page.getByRole('heading', { name: 'Mes sites', level: 1 }).waitFor()
  return { service, page, entry }
}

test('a module stands in the menu, and its page is text alone', async () => {
  const { page, entry } = await opened()

  expect(await entry.getAttribute('aria-current')).toBe('page')
  await page.getByText('<b>plain</b>', { exact: true }).waitFor()
  await page.getByText('<img src=x onerror=alert(1)>', { exact: true }).waitFor()
  expect(await page.getByRole('cell', { name: '2 Kio' }).count()).toBe(1)
  expect(new URL(page.url()).pathname).toBe('/modules/sites')
})

test('a wide table scrolls by itself, not with the page', async () => {
  const { page } = await opened()
  await page.getByRole('cell', { name: '2 Kio' }).waitFor()
  await page.setViewportSize({ width: 320, height: 700 })
  const widths = (of: string) =>
    page.locator(of).evaluate(({ scrollWidth, clientWidth }) => [scrollWidth > clientWidth, clientWidth <= 320])
  expect(await widths('.scroll')).toEqual([true, true])
  expect(await widths('html')).toEqual([false, true])
})

test('an action of a row asks first, tells its result and reads the list again', async () => {
  const { page } = await opened()

  const remove = page.getByRole('button', { name: /^Remove\s: two$/ })
  await remove.click()
  await page.getByRole('dialog').getByText('Really?').waitFor()
  await page.keyboard.press('Escape')
  expect(await remove.count()).toBe(1)
  await remove.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Gone 2').waitFor()
  await remove.waitFor({ state: 'detached' })
})

test('ten thousand rows are shown in part, and a refusal stands beside its button', async () => {
  const { page } = await opened()

  await page.getByRole('button', { name: 'Many', exact: true }).click()
  await page.getByText(/^Les 500 premières lignes, sur 10\s000$/).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(500)
  const section = page.getByRole('region', { name: 'Fail', exact: true })
  await section.getByRole('button').click()
  await section.getByRole('alert').waitFor()
})

test('a form begins with the present values, refuses what the schema refuses, and saves the rest', async () => {
  const { page } = await opened()
  const [host, port] = [page.locator('input[name=host]'), page.locator('input[name=port]')]
  const save = page.getByRole('button', { name: 'Enregistrer', exact: true })

  expect([await host.inputValue(), await port.inputValue()]).toEqual(['a.example', '443'])
  await page.getByText('Une valeur est enregistrée.').waitFor()
  await host.fill('')
  await port.fill('70000')
  await save.click()
  await page.getByText(/^65\s535 au plus\.$/).waitFor()
  expect(await host.getAttribute('aria-invalid')).toBe('true')
  await host.fill('b.example')
  await port.fill('8443')
  await page.locator('select[name=mode]').selectOption('safe')
  await save.click()
  await page.getByText(/^Enregistrer\s: fait\.$/).waitFor()
  await page.reload()
  await page.locator('input[name=host]').waitFor()
  expect(await page.locator('input[name=host]').inputValue()).toBe('b.example')
  expect(await page.locator('select[name=mode]').inputValue()).toBe('safe')
})

test('who is no administrator sees no part that is for administrators', async () => {
  const { page } = await opened('guest')

  await page.getByRole('cell', { name: 'two', exact: true }).waitFor()
  expect(await page.getByRole('region', { name: 'Settings', exact: true }).count()).toBe(0)
  await follow(page, '/modules/other')
  await page.getByText('Ce module n’a pas de page').waitFor()
})
