import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { openFirefox, shown } from '../firefox.ts'
import { ageProofs } from './proofs.ts'
import { withModules } from './with-modules.ts'

const FIREFOX_STARTS = 120_000
/** The messages of the browser about the refusals that a test brings about. */
const REFUSALS =
  /Content Security Policy|sandbox|Sandbox|frame-src|Unsafe attempt|Blocked|violates|script-src|ERR_BLOCKED|\b403\b/

const CODE = `let calls = 0
export default ({ z, defineFunction, definePage }) => [
  defineFunction({
    method: 'POST', path: '/api/modules/probe/count', auth: 'user', rateLimit: false, audit: false, response: z.number(),
    handler: () => { calls += 1; return calls },
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/count', auth: 'user', rateLimit: false, response: z.number(), handler: () => calls,
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/proof', auth: 'admin', stepUp: true, rateLimit: false,
    response: z.object({}), handler: () => ({}),
  }),
]`

/** A page whose inner frame asks the panel itself, and which leaves for another one when it is told to. */
const NESTED = {
  'web/index.html': `<!doctype html><p id="told"></p><script src="app.js"></script><iframe srcdoc="<script src='inner.js'></script>"></iframe>`,
  'web/inner.js': `
for (const above of [top, parent.parent]) above.postMessage({ panel: 1, id: 1, call: 'POST /api/modules/probe/count' }, '*')
parent.postMessage('asked', '*')`,
  'web/app.js': `
addEventListener('message', ({ data }) => {
  if (data === 'asked') parent.postMessage({ panel: 1, id: 2, call: 'GET /api/modules/probe/count' }, '*')
  if (data?.id === 2) document.querySelector('#told').textContent = 'calls ' + data.data
})`,
  'web/second.html': '<!doctype html><p id="second"></p><script src="second.js"></script>',
  'web/second.js': `
addEventListener('message', ({ data }) => {
  if (data?.id === 3) document.querySelector('#second').textContent = 'calls ' + data.data
})
parent.postMessage({ panel: 1, id: 3, call: 'GET /api/modules/probe/count' }, '*')`,
}

/** A page of links and forms that lead out of the frame. */
const LEADING_OUT = {
  'web/index.html': `<!doctype html>
<a id="top" href="/audit" target="_top">top</a> <a id="window" href="/audit" target="_blank">window</a>
<a id="download" href="app.js" download="app.js">download</a> <a id="foreign" href="http://localhost:9/stolen" target="_top">foreign</a>
<form action="/audit" target="_top"><button id="form">form</button></form>
<form action="http://localhost:9/stolen" target="_blank"><button id="post">post</button></form>
<input><script src="app.js"></script>`,
  'web/app.js': `onclick = ({ target }) => console.log('clicked ' + target.id)`,
}

/** A page that asks for a proof at a click, and takes the focus as often as it can. */
const GRASPING = {
  'web/index.html': '<!doctype html><button>Prove</button><input><script src="app.js"></script>',
  'web/app.js': `
const input = document.querySelector('input')
const grasp = () => { focus(); input.focus(); input.click() }
document.querySelector('button').addEventListener('click', () => {
  parent.postMessage({ panel: 1, id: 1, call: 'GET /api/modules/probe/proof' }, '*')
})
addEventListener('keydown', ({ key }) => console.log('heard ' + key))
setInterval(grasp, 5)`,
}

/** A form above the frame. */
const FORM = `defineFunction({
    method: 'PUT', path: '/api/modules/probe/word', auth: 'user', rateLimit: false, audit: false,
    request: { body: z.object({ word: z.string().meta({ title: 'Word' }) }) }, response: z.object({}), handler: () => ({}),
  }),
  definePage({ sections: [{ kind: 'form', call: 'PUT /api/modules/probe/word', fields: [{ field: 'word' }] }] }),
`

/** A page that takes the focus when it is told to, and says the keys that it hears. */
const GRABBING = {
  'web/index.html': '<!doctype html><input><p></p><script src="app.js"></script>',
  'web/app.js': `
const take = () => { focus(); document.querySelector('input').focus() }
addEventListener('keydown', ({ key }) => {
  console.log('heard ' + key)
  document.querySelector('p').textContent = 'heard ' + key
})`,
}

/** Never stops sending. */
const FLOOD = `() => {
  let id = 0
  const send = () => {
    for (let n = 0; n < 2_000; n += 1) {
      id += 1
      parent.postMessage({ panel: 1, height: 100 + (id % 900) }, '*')
      parent.postMessage({ panel: 1, id, call: 'GET /api/modules/probe/count' }, '*')
    }
    setTimeout(send)
  }
  send()
}`
const FLOODING = {
  'web/index.html': '<!doctype html><script src="app.js"></script>',
  'web/app.js': `(${FLOOD})()`,
}

async function opened(files: Readonly<Record<string, string>>, code = CODE) {
  const { service } = await withModules({ probe: { code, files } })
  const page = await openPage(service.url, { expected: REFUSALS })
  await signIn(page)
  await follow(page, '/modules/probe')
  const frame = page.frameLocator('iframe')
  return { service, page, frame }
}

async function openedInFirefox(files: Readonly<Record<string, string>>) {
  const { service } = await withModules({ probe: { code: CODE, files } })
  const firefox = await openFirefox(service.url)
  await firefox.evaluate(shown('input[name=username]'))
  await firefox.evaluate(`for (const name of ['username', 'password']) {
    const field = document.querySelector('input[name=' + name + ']')
    field.value = 'demo'
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
  await firefox.evaluate("document.querySelector('form').requestSubmit()")
  await firefox.evaluate(shown('.shell'))
  await firefox.goto(`${service.url}/modules/probe`)
  await firefox.evaluate(shown('iframe'))
  return { service, firefox }
}

test('a frame inside of the frame is not heard, and a page that goes away and back is', async () => {
  const { page, frame } = await opened(NESTED)
  await frame.getByText('calls 0').waitFor()

  const [, outer] = page.frames()
  await outer?.evaluate("void (location.href = 'second.html')")
  await frame.locator('#second:not(:empty)').waitFor({ state: 'attached' })
  expect(await frame.locator('#second').textContent()).toBe('calls 0')
  await page.frames()[1]?.evaluate("void (location.href = 'index.html')")
  await frame.getByText('calls 0').waitFor()
  expect(new URL(page.url()).pathname).toBe('/modules/probe')
})

test.each(['/audit', '/api/docs', 'http://localhost:9/stolen', 'data:text/html,<p>stolen</p>', 'javascript:alert(1)'])(
  'a frame that leaves for %s shows nothing of it',
  async (address) => {
    const { page, frame } = await opened(NESTED)
    await frame.getByText('calls 0').waitFor()
    await page.frames()[1]?.evaluate(`void (location.href = ${JSON.stringify(address)})`)
    // The browser has an answer for each of them, or none at all.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)))
    expect(new URL(page.url()).pathname).toBe('/modules/probe')
    const texts = await Promise.all(
      page
        .frames()
        .slice(1)
        .map((each) =>
          each
            .locator('body')
            .innerText()
            .catch(() => ''),
        ),
    )
    expect(texts.join(' ')).not.toMatch(/stolen|ops-panel|Audit/)
  },
)

test('no click in a frame leads out of it', async () => {
  const { page, frame } = await opened(LEADING_OUT)
  let left = 0
  page.on('download', () => {
    left += 1
  })
  for (const id of ['top', 'window', 'foreign', 'form', 'post', 'download']) {
    const clicked = page.waitForEvent('console', (message) => message.text() === `clicked ${id}`)
    await frame.locator(`#${id}`).click()
    await clicked
  }
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)))
  expect({ left, pages: page.context().pages().length, path: new URL(page.url()).pathname }).toEqual({
    left: 0,
    pages: 1,
    path: '/modules/probe',
  })
})

test('in Chromium, a frame that takes the focus of a question for a proof is stopped, and hears no key', async () => {
  const { service, page, frame } = await opened(GRASPING)
  const heard: string[] = []
  page.on('console', (message) => heard.push(message.text()))
  await ageProofs(service.folder)
  await page.reload()
  await frame.locator('button').click()
  await page.getByText('elle prenait le clavier').waitFor()
  expect(await page.locator('iframe, dialog[open]').count()).toBe(0)
  await page.keyboard.type('s')
  expect(heard.filter((text) => text.startsWith('heard'))).toEqual([])
  await page.getByRole('button', { name: 'La relancer' }).click()
  await frame.locator('button').waitFor()
})

test.each([true, false])(
  'a frame that takes the focus of a field in which the user types is stopped (%s), not one that is clicked or tabbed into',
  async (takes) => {
    const { page, frame } = await opened(GRABBING, `${CODE.slice(0, -1)}${FORM}]`)
    const heard: string[] = []
    page.on('console', (message) => heard.push(message.text()))
    const field = page.getByLabel('Word')
    await field.pressSequentially('se')
    if (!takes) {
      await frame.locator('input').click()
      await page.keyboard.type('x')
      await frame.getByText('heard x').waitFor()
      expect(await page.getByText('a été arrêtée').count()).toBe(0)
      await field.click()
      await field.press('c')
      await page.keyboard.press('Tab')
      for (let n = 0; n < 8 && !(await page.evaluate(() => document.activeElement?.matches('iframe'))); n += 1)
        await page.keyboard.press('Tab')
      await page.mouse.move(0, 0)
      await page.keyboard.type('y')
      await frame.getByText('heard y').waitFor()
      expect(await page.getByText('a été arrêtée').count()).toBe(0)
      return
    }
    await page.mouse.move(0, 0)
    await page.frames()[1]?.evaluate('void setTimeout(take)')
    await page.getByText('elle prenait le clavier pendant que vous écriviez').waitFor()
    expect(await page.locator('iframe').count()).toBe(0)
    await page.keyboard.type('cret')
    expect(await field.inputValue()).toBe('secret')
    expect(heard.filter((text) => text.startsWith('heard'))).toEqual([])
  },
)

test('a frame that never stops sending is stopped, and the panel goes on', async () => {
  const { page } = await opened(FLOODING)
  await page.getByText('a été arrêtée').waitFor({ timeout: 20_000 })
  expect(await page.locator('iframe').count()).toBe(0)
  await page.getByRole('link', { name: 'Conteneurs', exact: true }).click()
  await page.getByRole('heading', { name: 'Conteneurs', level: 1 }).waitFor()
})

test('in Firefox, a frame neither keeps the focus of a dialog nor leads out', { timeout: FIREFOX_STARTS }, async () => {
  const { service, firefox } = await openedInFirefox(LEADING_OUT)
  await firefox.evaluateInFrame(shown('#foreign'))
  for (const id of ['top', 'window', 'foreign', 'form', 'post'])
    await firefox.evaluateInFrame(`document.querySelector('#${id}').click()`)
  expect(await firefox.evaluate('location.pathname')).toBe('/modules/probe')
  expect((await firefox.tabs()).filter((url) => url.startsWith(service.url))).toEqual([`${service.url}/modules/probe`])

  await firefox.evaluate("document.querySelector('.side .find').click()")
  await firefox.evaluate(shown('dialog[open] input'))
  await firefox.evaluateInFrame('void setInterval(() => { focus(); document.querySelector("input").focus() }, 5)')
  await firefox.evaluate('new Promise((resolve) => setTimeout(resolve, 500))')
  expect(await firefox.evaluate("document.activeElement.closest('dialog') !== null")).toBe(true)
})

test('in Firefox, a frame that never stops sending is stopped', { timeout: FIREFOX_STARTS }, async () => {
  const { firefox } = await openedInFirefox(FLOODING)
  await firefox.evaluate(shown('main .notice'))
  expect(await firefox.evaluate("document.querySelectorAll('iframe').length")).toBe(0)
})
