import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { functions, sockets } from '../functions/index.ts'
import type { Auth, DeclaredTargets } from '../runtime/function.ts'
// Writes the table of docs/access.md from the declarations: node packaging/access-table.ts

const FILE = join(import.meta.dirname, '../docs/access.md')
const BEGIN = '<!-- operations -->\n'
const END = '<!-- /operations -->\n'

const ROLES: Readonly<Record<Auth, string>> = {
  none: 'anybody',
  optional: 'anybody',
  user: 'viewer',
  operator: 'operator',
  admin: 'admin',
}

interface Declared {
  auth: Auth
  credential?: 'session'
  stepUp?: true
  whileEnrolling?: true
  targets?: DeclaredTargets<never, never>
}

function rowOf(operation: string, { auth, credential, stepUp, whileEnrolling, targets }: Declared): string {
  const concerns =
    typeof targets === 'function' ? 'named' : { none: 'none', own: 'filtered', all: 'all' }[targets ?? 'all']
  const cells = [
    `\`${operation}\``,
    ROLES[auth],
    auth === 'none' ? 'none' : concerns,
    stepUp ? 'yes' : '',
    auth !== 'none' && (credential || stepUp) ? 'no' : '',
    auth === 'none' || whileEnrolling ? 'yes' : '',
  ]
  return `| ${cells.join(' | ')} |`.replace(/ {2,}/g, ' ')
}

/** Returns the table that docs/access.md must contain: what each operation asks of its callers. */
export function currentTable(): string {
  const rows = [
    ...functions.map((fn) => rowOf(`${fn.method} ${fn.path}`, fn)),
    ...sockets.map((socket) => rowOf(`GET ${socket.path}`, socket)),
  ]
  const head = '| operation | least role | targets | proof | API token | before a factor is added |'
  return `${head}\n| --- | --- | --- | --- | --- | --- |\n${rows.sort().join('\n')}\n`
}

/** Returns the text of docs/access.md before its table, the table, and the text after it. */
function written(): [string, string, string] {
  const text = readFileSync(FILE, 'utf8')
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  return [text.slice(0, from), text.slice(from, to), text.slice(to)]
}

/** Returns the table that docs/access.md contains. */
export const writtenTable = (): string => written()[1]

if (import.meta.main) {
  const [before, , after] = written()
  writeFileSync(FILE, before + currentTable() + after)
}
