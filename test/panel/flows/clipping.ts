import type { Page } from 'playwright-core'

/** The widths from the narrowest phone to a wide window, in px. */
export const WIDTHS = Array.from({ length: 33 }, (_, n) => 320 + n * 40)

/** Prepares the page for `clippingAt`, until it is reloaded. */
export async function armClipping(page: Page): Promise<void> {
  await page.evaluate(`globalThis.clippingFaults = ${faults.toString()}`)
}

/** Settles after the observers of sizes of this frame, and what they draw. */
const OBSERVED = `new Promise((settle) => {
  const told = new ResizeObserver(() => {
    told.disconnect()
    setTimeout(settle)
  })
  told.observe(document.documentElement)
})`

/**
 * Describes all elements of the page that cannot be read or pressed at a width. Equal faults are merged into one
 * sentence with their widths. `inFrames` waits until the page's own observers of sizes were told, and have drawn.
 */
export async function clippingAt(page: Page, widths: readonly number[], { inFrames = false } = {}): Promise<string[]> {
  const found = new Map<string, number[]>()
  // `setViewportSize` does more and takes longer than the check. Detaching restores the window.
  const window = await page.context().newCDPSession(page)
  for (const width of widths) {
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: false }
    await window.send('Emulation.setDeviceMetricsOverride', size)
    if (inFrames) await page.evaluate(OBSERVED)
    const here: unknown = await page.evaluate(`innerWidth === ${width} ? clippingFaults() : innerWidth`)
    if (typeof here === 'number') throw new Error(`the window is ${here} px wide and not ${width}`)
    if (!Array.isArray(here)) throw new Error('the page was loaded anew')
    for (const fault of here.map(String)) found.set(fault, [...(found.get(fault) ?? []), width])
  }
  await window.detach()
  return [...found].map(([fault, at]) => `${at[0]}${at.length > 1 ? `…${at.at(-1)} (${at.length})` : ''} px: ${fault}`)
}

/**
 * Runs in the page, so it refers to nothing outside. It reports
 *   page     the page scrolls sideways
 *   clipped  text that is cut without an ellipsis and cannot be scrolled to, or lies outside the window
 *   word     a broken word that fits into one line, or lines of few letters each; a name in many lines
 *   scrolls  an element other than an output that scrolls sideways
 *   ellipsis an ellipsis that leaves fewer than six letters, or hides a text without a title
 *   overlap  text that lies over other text
 *   off      a control outside the window or outside its scrolling container
 */
function faults(): string[] {
  const found: string[] = []
  const width = document.documentElement.clientWidth
  const styles = new Map<Element, CSSStyleDeclaration>()
  const style = (of: Element) => {
    const known = styles.get(of) ?? getComputedStyle(of)
    styles.set(of, known)
    return known
  }
  const own = (of: Element) =>
    of.localName +
    [...of.classList]
      .slice(0, 2)
      .map((name) => `.${name}`)
      .join('')
  const nameOf = (of: Element) => `${of.parentElement ? `${own(of.parentElement)} > ` : ''}${own(of)}`
  const note = (kind: string, of: Element, detail: string) => {
    const text = (of.textContent || of.getAttribute('aria-label') || '').trim().replace(/\s+/g, ' ').slice(0, 60)
    found.push(`${kind}: ${nameOf(of)} “${text}” ${detail}`)
  }
  const chains = new Map<Element, Element[]>()
  const chain = (of: Element): Element[] => {
    const known = chains.get(of)
    if (known) return known
    const above = of.parentElement && of !== document.body ? chain(of.parentElement) : []
    const all = [of, ...above]
    chains.set(of, all)
    return all
  }
  const isUnseen = (of: Element) =>
    of.closest('svg, .xterm, [inert]') !== null || chain(of).some((at) => style(at).clipPath !== 'none')
  const isVisible = (of: Element) => of.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  const modal = document.querySelector('dialog:modal')
  const root = modal ?? document.body

  const { scrollWidth } = document.documentElement
  if (scrollWidth > width + 1) {
    const isOut = (each: Element) => each.getBoundingClientRect().right > width + 1 && isVisible(each)
    const widest = [...document.body.querySelectorAll('*')].findLast(isOut) ?? document.body
    note('page', widest, `${scrollWidth - width} px too wide`)
  }

  const range = document.createRange()
  const linesOf = (node: Node, from: number, length: number) => {
    range.setStart(node, from)
    range.setEnd(node, from + length)
    const rects = [...range.getClientRects()].filter((each) => each.width > 0)
    return new Set(rects.map(({ top }) => Math.round(top))).size
  }
  const pieces: {
    of: Element
    left: number
    right: number
    top: number
    bottom: number
    layer: Element | undefined
  }[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement
    const text = node.nodeValue ?? ''
    if (!of || !text.trim() || /^(SCRIPT|STYLE|OPTION|NOSCRIPT)$/.test(of.tagName)) continue
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()].filter((each) => each.width > 0.5 && each.height > 0.5)
    if (rects.length === 0 || !isVisible(of) || isUnseen(of)) continue
    const path = chain(of)
    let scrolls = false
    let cuts = false
    for (const at of path) {
      const { overflowX, overflowY, textOverflow, webkitLineClamp } = style(at)
      if (overflowX === 'visible' && overflowY === 'visible') continue
      cuts = true
      const box = at.getBoundingClientRect()
      const outX = rects.some((each) => each.right > box.right + 1.5 || each.left < box.left - 1.5)
      const outY = rects.some((each) => each.bottom - 3 > box.bottom || each.top + 3 < box.top)
      const [canX, canY] = [/auto|scroll/.test(overflowX), /auto|scroll/.test(overflowY)]
      if (canX || canY) scrolls = true
      if (!outX && !outY) continue
      if (textOverflow === 'ellipsis' || webkitLineClamp !== 'none') {
        const shown = rects.reduce((sum, { top, bottom, left, right }) => {
          const isIn = top + 3 >= box.top && bottom - 3 <= box.bottom
          return sum + (isIn ? Math.max(0, Math.min(right, box.right) - Math.max(left, box.left)) : 0)
        }, 0)
        const whole = rects.reduce((sum, each) => sum + each.width, 0)
        const letters = Math.floor((shown / whole) * text.trim().length - 1.5)
        if (letters < 6) note('ellipsis', of, `leaves ${Math.max(0, letters)} of ${text.trim().length} letters`)
        else if (!of.closest('[title]')) note('ellipsis', of, 'has no title')
        break
      }
      if ((outX && !canX) || (outY && !canY)) note('clipped', of, `by ${nameOf(at)}`)
      break
    }
    if (!cuts && rects.some(({ left, right }) => right > width + 1.5 || left < -1.5))
      note('clipped', of, 'by the window')

    const frame = path.find(
      (at) => Number.parseFloat(style(at).borderInlineEndWidth) > 0 && style(at).display !== 'inline',
    )
    const framed = scrolls || cuts ? undefined : frame?.getBoundingClientRect()
    if (framed && rects.some(({ left, right }) => right > framed.right + 1 || left < framed.left - 1))
      note('clipped', of, 'by no frame, but out of its own')

    if (rects.length > 1) {
      const isWhole = of.closest('.status, .button, button, .num, time') !== null && !of.matches('.cut, .cut-two')
      const most = Number.parseInt(style(of).webkitLineClamp, 10) || Number.POSITIVE_INFINITY
      const isName = of.closest('.mono, pre, code, dialog, .problem, .log-lines') === null
      for (const { 0: word, index } of text.matchAll(/\S+/g)) {
        const lines = word.length < 2 ? 1 : Math.min(most, linesOf(node, index, word.length))
        if (lines < 2) continue
        const parts = [...word.matchAll(/[\p{L}\p{N}]+/gu)]
        const isBroken = parts.some((part) => linesOf(node, index + part.index, part[0].length) > 1)
        const isShort = isWhole || word.length <= 24 || word.length / lines < 16
        if ((isBroken && isShort) || (isName && lines > 4)) note('word', of, `“${word}” in ${lines} lines`)
      }
    }
    const layer = path.find((at) => {
      const { position, zIndex } = style(at)
      return (
        /fixed|sticky/.test(position) ||
        (position === 'absolute' && zIndex !== 'auto') ||
        at.matches('[popover], dialog')
      )
    })
    const cut = of.closest('.cut, .cut-two')?.getBoundingClientRect()
    if (!scrolls)
      for (const { left, right, top, bottom } of rects) {
        const shown = { left: Math.max(left, cut?.left ?? left), right: Math.min(right, cut?.right ?? right) }
        if (!cut || (top + 3 >= cut.top && bottom - 3 <= cut.bottom)) pieces.push({ of, ...shown, top, bottom, layer })
      }
  }
  pieces.sort((one, other) => one.top - other.top)
  for (const [n, one] of pieces.entries())
    for (let k = n + 1; k < pieces.length; k += 1) {
      const other = pieces[k]
      if (!other || other.top >= one.bottom - 4) break
      if (one.layer !== other.layer || one.of === other.of) continue
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (across > 3 && down > 5) note('overlap', other.of, `with ${nameOf(one.of)}`)
    }

  for (const of of root.querySelectorAll('*')) {
    if (of.scrollWidth <= of.clientWidth + 1 || !/auto|scroll/.test(style(of).overflowX) || !isVisible(of)) continue
    if (!of.matches('.log, .log-lines, .task-log, .told, pre, [role=tablist], input, textarea') && !isUnseen(of))
      note('scrolls', of, `${of.scrollWidth - of.clientWidth} px`)
  }

  for (const of of root.querySelectorAll('a[href], button, input, select, summary, [role=option]')) {
    if (!isVisible(of) || isUnseen(of)) continue
    const { left, right, width: wide } = of.getBoundingClientRect()
    if (wide < 2 || of.closest('[role=tablist]')) continue
    const around = chain(of)
      .slice(1)
      .find((at) => /auto|scroll|hidden|clip/.test(style(at).overflowX))
    const box = around?.getBoundingClientRect() ?? { left: 0, right: width }
    if (right > Math.min(width, box.right) + 1.5 || left < Math.max(0, box.left) - 1.5)
      note('off', of, `${Math.round(left)} to ${Math.round(right)} px`)
  }
  return [...new Set(found)]
}
