import { type Browser, chromium } from 'playwright-core'
import { openDatabase } from '../db/libsql/client.ts'
import { CHROMIUM } from '../test/chromium.ts'
import { addSchedules, SCHEDULES } from './night-data.ts'
import { measure } from './rounds.ts'
import { startSignedIn } from './signed-in.ts'
import { compare, type Row } from './table.ts'

const GOAL = { atMost: 1.5 }
/** Runs of each schedule that the list shows, and schedules that the page asks for first. */
const RUNS = 14
const SHOWN = 20

/** The time from the address until the browser shows the first schedules, or that there are none. */
export async function schedulesPage(): Promise<Row> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const [full, empty] = [await opened(browser, SCHEDULES), await opened(browser, 0)]
  try {
    const times = await measure({ warmUp: 2, rounds: 9 }, { full: full.open, empty: empty.open })
    const name = `the page of ${SCHEDULES} schedules in a browser / of none`
    return compare(name, GOAL, 'ms', times('full'), times('empty'))
  } finally {
    await browser.close()
    for (const each of [full, empty]) await each.stop()
  }
}

async function opened(browser: Browser, schedules: number) {
  const { context, url, folder, stop } = await startSignedIn(browser, [])
  if (schedules > 0) {
    const db = await openDatabase(`file:${folder}/panel.db`)
    await addSchedules(db, RUNS)
    await db.close()
  }
  const shown = schedules > 0 ? `.schedule-cards > li:nth-child(${SHOWN})` : '.first-schedule'
  const open = async () => {
    const page = await context.newPage()
    try {
      const began = performance.now()
      await page.goto(`${url}schedules`)
      await page.locator(shown).waitFor()
      return performance.now() - began
    } finally {
      await page.close()
    }
  }
  return { open, stop }
}
