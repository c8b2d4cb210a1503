import { once } from 'node:events'
import { createServer } from 'node:http'
import { type BuildOptions, build } from 'esbuild'
import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { openPage } from './browser.ts'

/** Opens a page that is bundled out of these sources: `html` at each address, beside the files that are made, such as `/main.css`. */
export async function openBundle(sources: Pick<BuildOptions, 'entryPoints' | 'stdin'>, html: string): Promise<Page> {
  const { outputFiles } = await build({
    ...sources,
    outdir: '/',
    entryNames: '[name]',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
  })
  const server = createServer(({ url }, response) => {
    const file = outputFiles.find(({ path }) => path === url)
    const type = url?.endsWith('.css') ? 'text/css' : url?.endsWith('.js') ? 'text/javascript' : 'text/html'
    response.setHeader('content-type', `${type}; charset=utf-8`).end(file?.contents ?? html)
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
