import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { withModules } from './with-modules.ts'

/** A page that says each look that it is told, and asks for the heights of its buttons. */
const TELLING = {
  'index.html':
    '<!doctype html><meta charset="utf-8"><style>body { margin: 0 }</style><p id="told"></p><button>700</button><button>120</button><button>0</button><button>1e9</button><script src="told.js"></script>',
  'told.js': `addEventListener('message', ({ source, data }) => {
  if (source === parent && data?.colors) told.textContent = data.theme + ' ' + data.language + ' ' + data.colors['--bg']
})
const told = document.querySelector('#told')
addEventListener('click', ({ target }) => parent.postMessage({ panel: 1, height: Number(target.textContent) }, '*'))`,
}

async function opened() {
  const { service } = await withModules({ looks: { files: TELLING } })
  const page = await openPage(service.url)
  await signIn(page)
  await follow(page, '/modules/looks')
  const frame = page.frameLocator('iframe')
  const told = frame.locator('#told')
  await expect.poll(() => told.textContent(), { timeout: 10_000 }).toMatch(/^light fr /)
  return { page, frame }
}

test('the height of a frame follows what it says, within bounds', async () => {
  const { page, frame } = await opened()
  const height = async () => (await page.locator('iframe').boundingBox())?.height
  const asks = (wanted: string) => frame.getByRole('button', { name: wanted, exact: true }).click()
  /** The frame has a border. */
  const border = ((await height()) ?? 0) - 480
  expect(border).toBeLessThanOrEqual(2)
  for (const [wanted, given] of [
    ['700', 700],
    ['120', 120],
    ['1e9', 10_000],
    ['0', 40],
  ] as const) {
    await asks(wanted)
    await expect.poll(height).toBe(given + border)
  }
})
