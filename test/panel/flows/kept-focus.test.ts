import { once } from 'node:events'
import { createServer } from 'node:http'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { focused, openPage } from '../browser.ts'

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

async function opened() {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: process.cwd(), loader: 'tsx' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
  })
  const server = createServer((_, response) => {
    const script = outputFiles[0]?.text ?? ''
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!doctype html><link rel="icon" href="data:,"><body><script type="module">${script}</script>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  return openPage(`http://127.0.0.1:${address.port}/`)
}

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
