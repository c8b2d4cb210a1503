import { parseArgs } from 'node:util'
import { broadcast } from './broadcast.ts'
import { checks } from './checks.ts'
import { http } from './http.ts'
import { idle } from './idle.ts'
import { flood, job } from './job.ts'
import { line } from './line.ts'
import { login } from './login.ts'
import { markdown } from './markdown.ts'
import { night } from './night.ts'
import { paint } from './paint.ts'
import { planHost } from './plan-host.ts'
import { planSheet } from './plan-sheet.ts'
import { plans } from './plans.ts'
import { protectionLook } from './protection-look.ts'
import { servicesLook } from './services-look.ts'
import { size } from './size.ts'
import { start } from './start.ts'
import { reached, table } from './table.ts'
import { terminal } from './terminal.ts'
import { unprotectedRun } from './unprotected-run.ts'

const all = {
  login,
  http,
  job,
  flood,
  line,
  broadcast,
  terminal,
  start,
  paint,
  checks,
  plans,
  'plan-host': planHost,
  'plan-sheet': planSheet,
  'protection-look': protectionLook,
  'unprotected-run': unprotectedRun,
  'services-look': servicesLook,
  night,
  idle,
  size,
}
const { values, positionals: asked } = parseArgs({ allowPositionals: true, options: { markdown: { type: 'boolean' } } })
const unknown = asked.filter((name) => !(name in all))
if (unknown.length > 0) {
  process.stderr.write(`unknown rows: ${unknown.join(' ')}; there are ${Object.keys(all).join(' ')}\n`)
  process.exit(2)
}

const rows = []
for (const [name, measureRows] of Object.entries(all)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stderr.write(`bench: ${name}\n`)
  rows.push(...(await measureRows()))
}
process.stdout.write(`\n${values.markdown ? markdown(rows, new Date()) : table(rows)}\n`)
if (!rows.every(reached)) process.exitCode = 1
