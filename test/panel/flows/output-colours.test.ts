import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { contrast } from '../checks/contrast.ts'
import { started } from './started.ts'

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `${from + n}`)
/** The codes of foregrounds and backgrounds, also bright ones, of styles that change a colour, and combinations. */
const COLOURS = [...range(30, 37), ...range(90, 97), ...range(40, 47), ...range(100, 107), ...range(1, 7)]
const CODES = [
  ...COLOURS,
  ...COLOURS.map((code) => `7;${code}`),
  ...range(0, 15).map((index) => `2;38;5;${Number(index) * 16}`),
  ...['30;40', '37;107', '97;47', '33;43', '1;33;44', '7;30;40', '38;2;240;184;73', '7;38;2;240;184;73'],
]

/** The visible colours of each part, by the code of its line: of search matches, or of all other parts. */
function coloursOf(
  page: Page,
  parts: 'mark' | '.line > span',
): Promise<[code: string, text: string, ground: string][]> {
  return page.evaluate((parts) => {
    const seen: [string, string, string][] = []
    const hex = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number)
      return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
    }
    for (const part of document.querySelectorAll(parts)) {
      const code = /m(\S+)/.exec(part.closest('.line')?.textContent ?? '')?.[1] ?? ''
      const text = part.querySelector('[class]') ?? part
      let ground: Element | null = text
      while (ground && /^(transparent|rgba\(0, 0, 0, 0\))$/.test(getComputedStyle(ground).backgroundColor))
        ground = ground.parentElement
      seen.push([
        code,
        hex(getComputedStyle(text).color),
        hex(getComputedStyle(ground ?? document.body).backgroundColor),
      ])
    }
    return seen
  }, parts)
}

test.each(['dark', 'light'] as const)(
  '%s: search matches and all other text are readable in every colour',
  async (colorScheme) => {
    const { demo, service } = await started()
    demo.upgradeOutput = async function* () {
      for (const code of CODES) yield `\u001b[${code}mneedle m${code} \u001b[0m\n`
    }
    const page = await openPage(service.url, { colorScheme, viewport: { width: 1280, height: 4_000 } })
    await signIn(page)
    const job = await service.run('host')
    await follow(page, `/updates/${job}`)
    await page.locator('.output .bar').getByText('Terminé', { exact: true }).waitFor()
    const weak = async (parts: 'mark' | '.line > span') => {
      const codes = async () => new Set((await coloursOf(page, parts)).map(([code]) => code))
      await expect.poll(codes).toEqual(new Set(CODES))
      const seen = await coloursOf(page, parts)
      return seen.filter(([, text, ground]) => contrast(text, ground) < 4.5)
    }
    expect(await weak('.line > span')).toEqual([])

    await page.locator('.output .log').focus()
    await page.keyboard.press('Control+f')
    await page.keyboard.type('needle')
    await page.locator('mark').first().waitFor()
    expect(await weak('mark')).toEqual([])

    // The check finds an unreadable colour.
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('.output mark [class].hue-3 { color: #f0b849 !important; background: #ecb548 !important }')
      document.adoptedStyleSheets = [sheet]
    })
    expect((await weak('mark')).map(([code]) => code)).toContain('33')
  },
)
