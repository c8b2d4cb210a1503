import { expect, test } from 'vitest'
import { focused } from '../browser.ts'
import { openBundle } from '../bundle.ts'

/** A row of which a press removes a button, and one with a button that moves the focus beside the row. */
const PAGE = `
import { signal } from '@preact/signals'
import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useKeptFocus } from './panel/parts/accessibility.ts'

const shown = signal(0)
const isThere = signal(true)

function Log({ n }) {
  const log = useRef(null)
  useLayoutEffect(() => {
    if (n > 0) log.current.focus()
  }, [n])
  return <section ref={log} tabIndex={0} aria-label="log" />
}

function Row({ n }) {
  const row = useRef(null)
  useKeptFocus(row)
  return (
    <div ref={row} tabIndex={-1} aria-label="row">
      <button type="button" onClick={() => (shown.value += 1)}>show {n}</button>
      {isThere.value && <button type="button" onClick={() => (isThere.value = false)}>go</button>}
    </div>
  )
}

function Page() {
  const n = shown.value
  return <><Log n={n} /><Row n={n} /></>
}

render(<Page />, document.body)
`

const opened = () =>
  openBundle(
    { stdin: { contents: PAGE, resolveDir: process.cwd(), loader: 'tsx' } },
    '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/stdin.js"></script>',
  )

test('a row takes the focus when its pressed button is gone', async () => {
  const page = await opened()
  await page.getByRole('button', { name: 'go' }).press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe('row')
})

test('a row does not take the focus back from where a press of its button has led', async () => {
  const page = await opened()
  await page.getByRole('button', { name: 'show 0' }).press('Enter')
  await page.getByRole('button', { name: 'show 1' }).waitFor()
  expect(await focused(page)).toContain('log')
})
