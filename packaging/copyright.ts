import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

const Person = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
const Package = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  author: Person.optional(),
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]).optional(),
})

/** Debian installs this licence on every machine, and asks packages not to repeat it. */
const APACHE = /^.*Apache License\s+Version 2\.0, January 2004\n[\s\S]*?END OF TERMS AND CONDITIONS/gm
const APACHE_THERE = 'Apache License, Version 2.0: see /usr/share/common-licenses/Apache-2.0'

const INSIDE = `Inside the executable are Node.js and the npm packages below, each under its own
licence, in the words of its own files.
`

/** Returns the text of the copyright file: this project's licence, then the licence of each package in `folders`. */
export function copyright(root: string, folders: readonly string[]): string {
  const own = `ops-panel, and what its executable consists of.\n\n${readFileSync(join(root, 'LICENSE'), 'utf8')}\n${INSIDE}`
  return [own, ...folders.map((folder) => notice(join(root, folder)))].join(`\n${'-'.repeat(80)}\n\n`)
}

/** The licence file of a package, or the one that webpack writes for the packages inside a bundled file. */
const LICENCE = /^(licen[cs]e|copying|notice)\b|\.licen[cs]e\.txt$/i

function notice(folder: string): string {
  const of = Package.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  const files = readdirSync(folder).filter((file) => LICENCE.test(file))
  const texts = [...new Set(files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim()))]
  if (texts.length === 0 && of.license === undefined) throw new Error(`${folder} says nothing of its licence`)
  const stated = [`Licence: ${of.license ?? 'see below'}`, of.author && `Author: ${of.author}`]
  // A package without a licence text has only a licence name.
  const where = texts.length === 0 && of.repository && `Source: ${of.repository}`
  const head = [`${of.name} ${of.version}`, ...stated, where].filter(Boolean)
  return `${[head.join('\n'), ...texts].join('\n\n').replaceAll(APACHE, APACHE_THERE)}\n`
}
