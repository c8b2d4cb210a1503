import { broadcast } from './broadcast.ts'
import { http } from './http.ts'
import { flood, job } from './job.ts'
import { line } from './line.ts'
import { login } from './login.ts'
import { size } from './size.ts'
import { start } from './start.ts'
import { reached, table } from './table.ts'
import { terminal } from './terminal.ts'

const all = { login, http, job, flood, line, broadcast, terminal, start, size }
const asked = process.argv.slice(2)
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
process.stdout.write(`\n${table(rows)}\n`)
if (!rows.every(reached)) process.exitCode = 1
