import { type BrowserContext, chromium } from 'playwright-core'
import * as z from 'zod'
import { upgradable } from '../demo/packages.ts'
import { container } from '../demo/place.ts'
import { CHROMIUM } from '../test/chromium.ts'
import { measure } from './rounds.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'
import { compare, type Row } from './table.ts'

/** As many as a release upgrade of a large host changes. */
const PACKAGES = 1_500
const ROUNDS = { warmUp: 1, rounds: 7 }
/** As many bare lines take some 65 ms on an idle machine: this is 100 ms there. */
const GOAL = { atMost: 1.5 }
/** A page that takes longer has failed. */
const PAGE_MS = 60_000

/**
 * Measures the time from the last byte of a large plan until the browser has painted it, with the list of the last check
 * on the screen and without it. The anchor is as many bare lines in the same Chromium.
 */
export async function planSheet(): Promise<Row[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const packages = Array.from({ length: PACKAGES }, (_, n) =>
    upgradable(`librig-package-${n}`, n % 3 === 0 ? 'stable-security' : 'stable', `1:2.${n}-1`, `1:2.${n}-2`, 100 + n),
  )
  const panel = await startSignedIn(browser, [container('101', 'many', { upgradable: packages })])
  try {
    const last: number[] = []
    const of = await measure(ROUNDS, {
      bare: () => bare(panel.context),
      foreseen: async () => (await sheet(panel, true)).first,
      unforeseen: async () => {
        const times = await sheet(panel, false)
        last.push(times.last)
        return times.first
      },
    })
    return [
      compare(
        'a plan of 1500 packages on the screen, as foreseen / bare lines',
        GOAL,
        'ms',
        of('foreseen'),
        of('bare'),
      ),
      compare(
        'a plan of 1500 packages on the screen, with nothing before / bare lines',
        GOAL,
        'ms',
        of('unforeseen'),
        of('bare'),
      ),
      compare(
        'the last of these packages on the screen / bare lines',
        undefined,
        'ms',
        last.slice(ROUNDS.warmUp),
        of('bare'),
      ),
    ]
  } finally {
    await browser.close()
    await panel.stop()
  }
}

/** `painted(isThere)` resolves with the time at the end of the frame in which `isThere()` is first true. */
const PAINTED = `
const painted = (isThere) => new Promise((resolve) => {
  const look = () => {
    if (!isThere()) return requestAnimationFrame(look)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(performance.now())
    port2.postMessage(0)
  }
  requestAnimationFrame(look)
})`

/** Returns the milliseconds until as many lines of four words are painted in an empty page. */
async function bare(context: BrowserContext): Promise<number> {
  const page = await context.newPage()
  try {
    return z.number().parse(
      await page.evaluate(`(async () => {
        ${PAINTED}
        const began = performance.now()
        const list = document.createElement('ul')
        for (let n = 0; n < ${PACKAGES}; n += 1) {
          const line = list.appendChild(document.createElement('li'))
          for (const word of ['name', '1.0', '2.0', 'all'])
            line.appendChild(document.createElement('span')).textContent = word + '-' + n
        }
        document.body.appendChild(list)
        return (await painted(() => true)) - began
      })()`),
    )
  } finally {
    await page.close()
  }
}

const Times = z.object({ first: z.number(), last: z.number() })

/**
 * Opens the plan of the container; returns the milliseconds from the arrival of the plan until its hash and first rows,
 * and until its last row. `foreseen`: the rows of the check are all there before. Otherwise the check has no packages.
 */
async function sheet({ context, url }: SignedIn, foreseen: boolean): Promise<z.infer<typeof Times>> {
  const page = await context.newPage()
  page.setDefaultTimeout(PAGE_MS)
  try {
    // The debugger adds it before the page's scripts, because the page's policy refuses any other script.
    await page.addInitScript({
      content: `(() => {
        ${PAINTED}
        const rows = () => document.querySelectorAll('.chg').length
        const { fetch } = globalThis
        globalThis.fetch = async (address, options) => {
          const { pathname } = new URL(address, location.href)
          if (${!foreseen} && pathname.endsWith('/checks/lxc:101')) return new Response('{}', { status: 404 })
          if (${foreseen} && pathname.endsWith('/plans')) await painted(() => rows() === ${PACKAGES})
          return fetch(address, options)
        }
        const { text } = Response.prototype
        Response.prototype.text = async function () {
          const body = await text.call(this)
          if (this.url.endsWith('/plans')) {
            const [{ responseEnd }] = performance.getEntriesByName(this.url).slice(-1)
            const first = painted(() => rows() > 0 && document.querySelector('.hash'))
            const last = painted(() => rows() === ${PACKAGES})
            globalThis.times = Promise.all([first, last]).then(([one, all]) => ({ first: one - responseEnd, last: all - responseEnd }))
          }
          return body
        }
      })()`,
    })
    await page.goto(`${url}updates`)
    const review = page.getByRole('button', { name: /^Examiner la mise à jour de many/ })
    await review.waitFor()
    await review.press('Enter')
    // A look that is taken often would take time from the page.
    const times =
      'new Promise((resolve) => { const ask = () => globalThis.times ? resolve(times) : setTimeout(ask, 500); ask() })'
    return Times.parse(await page.evaluate(times))
  } finally {
    await page.close()
  }
}
