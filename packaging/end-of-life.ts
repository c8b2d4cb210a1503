import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// Renews the table in functions/checks/end-of-life.ts from Debian's package distro-info-data, on Debian: npm run end-of-life

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'functions/checks/end-of-life.ts')
const PACKAGE = 'distro-info-data'

/** The beginning of the table in its file. */
const BEGINNING = `/** The version of Debian's package ${PACKAGE} that the table is from`

/**
 * The column with the end of support of each system, in order of preference. Ubuntu's servers were supported for longer
 * than its desktops until 2012.
 */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  debian: ['eol-lts', 'eol'],
  ubuntu: ['eol-server', 'eol'],
}

/** Returns the end of support by version from a table of distro-info-data; releases without a date are left out. */
export function endsOfSupport(csv: string, columns: readonly string[]): Record<string, string> {
  const [heading = '', ...lines] = csv.trim().split('\n')
  const names = heading.split(',')
  const ends: Record<string, string> = {}
  for (const line of lines) {
    const fields = line.split(',')
    const field = (name: string) => fields[names.indexOf(name)] ?? ''
    const version = field('version').replace(/ LTS$/, '')
    const end = columns.map(field).find((date) => /^\d{4}-\d\d-\d\d$/.test(date))
    if (/^\d[\d.]*$/.test(version) && end !== undefined) ends[version] = end
  }
  return ends
}

/** Returns the table in TypeScript, the last part of its file. */
export function tableOf(version: string, tables: Readonly<Record<string, string>>): string {
  const systems = Object.entries(COLUMNS).map(([id, columns]) => {
    const ends = Object.entries(endsOfSupport(tables[id] ?? '', columns))
    if (ends.length === 0) throw new Error(`${PACKAGE} has no release of ${id}`)
    return `  ${id}: {\n${ends.map(([name, end]) => `    '${name}': '${end}',\n`).join('')}  },\n`
  })
  return `${BEGINNING}; \`npm run end-of-life\` renews it. */
export const END_OF_LIFE_SOURCE = '${version}'

/** The last day with security updates, by the id of the system and its version. */
export const END_OF_LIFE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${systems.join('')}}
`
}

function currentTable(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ops-panel-end-of-life-'))
  try {
    const run = (program: string, ...args: string[]) =>
      execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    run('apt-get', '-q', 'download', PACKAGE)
    const file = readdirSync(folder).find((name) => name.endsWith('.deb')) ?? ''
    run('dpkg-deb', '-x', file, 'files')
    const tables = Object.keys(COLUMNS).map((id) => {
      const csv = readFileSync(join(folder, 'files/usr/share/distro-info', `${id}.csv`), 'utf8')
      return [id, csv] as const
    })
    return tableOf(run('dpkg-deb', '-f', file, 'Version').trim(), Object.fromEntries(tables))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const [before = ''] = readFileSync(FILE, 'utf8').split(BEGINNING)
  writeFileSync(FILE, before + currentTable())
}
