import { readFileSync } from 'node:fs'

/** The version of this program: put in by the build, read from package.json when the sources run. */
export const VERSION: string = process.env.OPS_PANEL_VERSION ?? fromPackage()

function fromPackage(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? '0.0.0'
}
