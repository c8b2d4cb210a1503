import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { container } from '../demo/place.ts'
import { CHROMIUM } from '../test/chromium.ts'
import { measure } from './rounds.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'
import { compare, median, type Row } from './table.ts'

const ROUNDS = { warmUp: 2, rounds: 15 }
const FEW = 4
const MANY = 40
const PAGE = '<!doctype html><title>bare</title><link rel="icon" href="data:,"><h1>bare</h1>'
/** A page that takes longer has failed. */
const PAINT_MS = 30_000

/**
 * Measures the time until the dashboard of a signed-in user shows its containers, against a bare page in the same
 * Chromium, and with ten times as many targets. The hosts are imitated, so their time does not count.
 */
export async function paint(): Promise<Row[]> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox'],
  })
  const bare = await startBare()
  const few = await startDashboard(browser, FEW)
  const many = await startDashboard(browser, MANY)
  const plain = await browser.newContext()
  try {
    const of = await measure(ROUNDS, {
      bare: () => timeOf(plain, bare.url, 'h1'),
      few: () => timeOf(few.context, few.url, '.cards tbody tr'),
      many: () => timeOf(many.context, many.url, '.cards tbody tr'),
    })
    const [ours, anchor] = [median(of('few')), median(of('bare'))]
    return [
      {
        name: 'dashboard painted − bare page',
        goal: { atMost: 300 },
        ours: `${ours.toFixed(0)} ms`,
        anchor: `${anchor.toFixed(0)} ms`,
        result: ours - anchor,
        unit: 'ms',
        rounds: ROUNDS.rounds,
      },
      compare(`dashboard of ${MANY} targets / of ${FEW}`, { atMost: 1.5 }, 'ms', of('many'), of('few')),
    ]
  } finally {
    await browser.close()
    bare.stop()
    await many.stop()
    await few.stop()
  }
}

async function startBare() {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${Object(server.address()).port}/`, stop: () => server.close() }
}

/** A signed-in browser and a service whose host has so many targets. */
function startDashboard(browser: Browser, targets: number): Promise<SignedIn> {
  return startSignedIn(
    browser,
    Array.from({ length: targets - 1 }, (_, n) => container(String(101 + n), `ct-${n}`)),
  )
}

/** Returns the milliseconds from the navigation to the first frame with an element that matches the selector. */
async function timeOf(context: BrowserContext, url: string, selector: string): Promise<number> {
  const page = await context.newPage()
  try {
    // The debugger adds it before the page's scripts, because the page's policy refuses any other script.
    await page.addInitScript({
      content: `
        const look = () => {
          if (!document.querySelector(${JSON.stringify(selector)})) return requestAnimationFrame(look)
          requestAnimationFrame(() => setTimeout(() => { globalThis.paintedAt = performance.now() }))
        }
        look()`,
    })
    await page.goto(url, { waitUntil: 'commit' })
    await page.locator(selector).first().waitFor({ timeout: PAINT_MS })
    return Number(
      await page.evaluate(
        'new Promise((resolve) => { const ask = () => globalThis.paintedAt ? resolve(paintedAt) : setTimeout(ask, 5); ask() })',
      ),
    )
  } finally {
    await page.close()
  }
}
