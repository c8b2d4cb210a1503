import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedAtOnce, focusedWithNew, follow, openPage, signIn } from '../browser.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 50 }
/** The panel's message at the end of a session. */
const ENDED = (code: number) => `Session terminée (code ${code}).`

/** A signed-in page at `path`, with the files that it has loaded. */
async function panelAt(path: string) {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, {})
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
  await signIn(page)
  await follow(page, path)
  return { page, service, loaded }
}

const shown = (page: Page) => page.locator('.xterm-rows').innerText()

async function expectShown(page: Page, text: string | RegExp) {
  await expect.poll(() => shown(page), WAIT).toMatch(text)
}

/** Waits for the prompt, and types a line. */
async function type(page: Page, line: string) {
  await expectShown(page, /[#$]\s*$/)
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached', timeout: WAIT.timeout })
  await page.keyboard.type(`${line}\r`)
}

test('a shell opened by a link shows input, coloured output and its end, and can be reopened', {
  timeout: LONG,
}, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')

  await type(page, 'hostname')
  await expectShown(page, /^web$/m)
  await type(page, 'colors')
  await expectShown(page, /████/)
  const seen = await page.locator('.xterm-rows span').evaluateAll((spans) => {
    const styles = spans.map((span) => getComputedStyle(span))
    return {
      inks: new Set(styles.map(({ color }) => color)).size,
      papers: styles.map(({ backgroundColor }) => backgroundColor),
    }
  })
  expect(seen.inks).toBeGreaterThan(6)
  expect(seen.papers).toContain('rgb(8, 16, 247)')

  await type(page, 'exit 3')
  await page.getByText(ENDED(3)).waitFor(WAIT)
  await expect.poll(() => focused(page), WAIT).toBe('Rouvrir')
  await page.keyboard.press('Enter')
  // The new shell appears below the output of the first one.
  await expectShown(page, /exit 3[\s\S]*Imitation[\s\S]*# *$/)
  await type(page, 'exit')
  await page.getByText(ENDED(0)).waitFor(WAIT)
})

test('the focus leaves a shell that ends, and the last one that is closed, before the next key', {
  timeout: LONG,
}, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await expectShown(page, /[#$]\s*$/)
  const focusAtEnd = await focusedWithNew(page, '.shell-end button')
  await type(page, 'exit')
  await page.getByText(ENDED(0)).waitFor(WAIT)
  expect(await focusAtEnd()).toBe('Rouvrir')
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Fermer le terminal sur web' }))).toBe('Terminal')
})

test('keys typed before the shell is ready are not lost', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal')
  await page.evaluate(() => {
    const listen = WebSocket.prototype.addEventListener
    const held = new Promise<void>((resolve) => Reflect.set(globalThis, 'letOpen', resolve))
    Reflect.set(
      WebSocket.prototype,
      'addEventListener',
      function late(this: WebSocket, type: string, listener: (event: Event) => void) {
        listen.call(this, type, type === 'open' ? (event) => void held.then(() => listener(event)) : listener)
      },
    )
  })
  await page.getByRole('button', { name: 'Ouvrir un terminal sur Hôte' }).click()
  await page.locator('.xterm-helper-textarea').waitFor({ ...WAIT, state: 'attached' })
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest('.xterm') !== null), WAIT).toBe(true)

  await page.keyboard.type('hostname\r')
  await page.evaluate(() => Reflect.get(globalThis, 'letOpen')())

  await expectShown(page, /hostname\s+pve/)
})

test('the shell receives the size of the window', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=host')
  const sizes = async () => {
    await type(page, 'clear')
    await type(page, 'stty size')
    await expectShown(page, /^\d+ \d+$/m)
    const [, rows, columns] = /^(\d+) (\d+)$/m.exec(await shown(page)) ?? []
    return { rows: Number(rows), columns: Number(columns) }
  }
  const before = await sizes()

  await page.setViewportSize({ width: 900, height: 600 })

  await expect
    .poll(sizes, WAIT)
    .toSatisfy(({ rows, columns }: typeof before) => rows < before.rows && columns < before.columns)
})

test('xterm.js loads only when a terminal opens', { timeout: LONG }, async () => {
  const { page, loaded } = await panelAt('/updates')
  await page.getByRole('link', { name: 'Terminal' }).click()
  const open = page.getByRole('button', { name: 'Ouvrir un terminal sur Hôte' })
  await open.waitFor(WAIT)
  const isFetched = () => loaded.some((path) => path.includes('/terminal-'))
  expect(isFetched()).toBe(false)

  await open.click()

  await expectShown(page, /[#$]\s*$/)
  expect(isFetched()).toBe(true)
})

test('a shell keeps running while another page or tab is shown', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await type(page, 'echo before')

  await page.getByRole('link', { name: 'Conteneurs' }).click()
  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await page.getByRole('link', { name: 'Terminal' }).click()
  await expectShown(page, /^before$/m)
  await page.getByLabel('Cible').selectOption('host')
  await page.getByRole('button', { name: 'Ouvrir', exact: true }).click()
  await expectShown(page, /panel@pve/)
  await type(page, 'hostname')
  await expectShown(page, /^pve$/m)
  await page.getByRole('tab', { name: 'web' }).click()

  await type(page, 'echo after')
  await expectShown(page, /^before$[\s\S]*^after$/m)
})

test('the keyboard alone leaves a terminal and returns to it', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await type(page, 'pwd')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.closest('.xterm') !== null)).toBe(true)

  for (const keys of ['Control+Shift+Escape', 'Control+Shift+F6']) {
    await page.keyboard.press(keys)
    expect(await focused(page)).toContain('web')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.closest('.xterm') !== null)).toBe(true)
  }
})

test('a long paste arrives complete', { timeout: LONG }, async () => {
  const { page, service } = await panelAt('/terminal?target=lxc:101')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url })
  const words = `${'ab '.repeat(23_000)}END`
  await expectShown(page, /[#$]\s*$/)
  await page.evaluate((text) => navigator.clipboard.writeText(text), `echo ${words}\r`)
  // Output begins a line, unlike the echo of the paste.
  await page.getByRole('button', { name: 'Coller' }).click()

  await expectShown(page, /END\s+root@web/)
  expect(await page.locator('.shell-end').innerText()).toBe('')
})

test('closing the window asks about an open shell, but not about an ended one', {
  timeout: LONG,
}, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  await type(page, 'pwd')

  await page.reload()
  expect(asked).toEqual(['beforeunload'])
  await page.getByRole('button', { name: 'Ouvrir un terminal sur Hôte' }).click()
  await type(page, 'exit')
  await page.getByText(ENDED(0)).waitFor(WAIT)
  await page.reload()

  await page.getByRole('button', { name: 'Ouvrir un terminal sur Hôte' }).waitFor(WAIT)
  expect(asked).toEqual(['beforeunload'])
})

test('the Ctrl button on a phone applies to the next key', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await page.setViewportSize({ width: 390, height: 844 })
  await type(page, 'yes')
  await expectShown(page, /^y\s*$/m)

  await page.getByRole('button', { name: 'Ctrl', exact: true }).click()
  await page.keyboard.type('c')

  await expectShown(page, /\^C\s+root@web:~#\s*$/)
})

test('a terminal follows the theme', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await expectShown(page, /[#$]\s*$/)
  const paper = () =>
    page.locator('.xterm-scrollable-element').evaluate((element) => getComputedStyle(element).backgroundColor)
  const wanted = { dark: 'rgb(21, 26, 33)', light: 'rgb(255, 255, 255)' }

  for (const [theme, colour] of Object.entries(wanted)) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name
    }, theme)
    await expect.poll(paper, WAIT).toBe(colour)
  }
})

test('a key ends a flood, and the prompt appears after it', { timeout: LONG }, async () => {
  const { page } = await panelAt('/terminal?target=lxc:101')
  await type(page, 'yes')
  await expectShown(page, /^y\s+y\s*$/m)

  await page.keyboard.press('Control+c')

  await expectShown(page, /\^C\s+root@web:~# *$/)
  await type(page, 'echo after')
  await expectShown(page, /^after$/m)
})

test('output that comes too fast loses its middle, and a note says so', {
  timeout: LONG,
}, async () => {
  const { page } = await panelAt('/terminal')
  await page.evaluate(() => {
    const { send } = WebSocket.prototype
    WebSocket.prototype.send = function flooding(data) {
      send.call(this, data)
      if (!(data instanceof Uint8Array) || data[0] !== 0x06) return
      // The text arrives at once, because no other source is certainly faster than the screen.
      const say = (text: string) => {
        const data = new TextEncoder().encode(text).buffer
        this.dispatchEvent(new MessageEvent('message', { data }))
      }
      for (let n = 0; n < 5; n += 1) say('y\r\n'.repeat(1024 * 1024))
      say('and the prompt# ')
    }
  })
  await page.getByRole('button', { name: 'Ouvrir un terminal sur Hôte' }).click()
  await type(page, 'echo before')
  await expectShown(page, /^before$/m)

  await page.keyboard.press('Control+f')

  await expectShown(page, /^y\s+and the prompt# *$/m)
  await expect
    .poll(
      async () => {
        await page.keyboard.press('Shift+PageUp')
        // The terminal paints in the frame after the next.
        await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))))
        return shown(page)
      },
      { timeout: WAIT.timeout, interval: 0 },
    )
    .toMatch(/^… [\d,]+\sMio non affichés.*…\s+y\s/m)
})

test('a foreign link opens no shell by a sign-in either', { timeout: LONG }, async () => {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/terminal?target=host`)
  await signIn(page)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForURL(`${service.url}/terminal`)
  await page.getByRole('button', { name: 'Ouvrir un terminal sur web' }).waitFor(WAIT)
  expect(await page.getByRole('tab').count()).toBe(0)
})

test('a foreign link opens no shell without a press', { timeout: LONG }, async () => {
  const { page, service } = await panelAt('/containers')

  await page.goto(`${service.url}/terminal?target=lxc:101`)

  await page.getByRole('button', { name: 'Ouvrir un terminal sur web' }).waitFor(WAIT)
  expect(await page.getByRole('tab').count()).toBe(0)
})
