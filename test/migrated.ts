import * as z from 'zod'
import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { migrate } from '../db/migrate.ts'

const Made = z.object({ type: z.string(), name: z.string(), sql: z.string() })
const Cell = z.union([z.string(), z.number(), z.null()])

/** The time that stands for that of each database in the script. */
const AT = '2000-01-01T00:00:00.000Z'
let script: Promise<string> | undefined

/** Gives an empty database the newest schema, in a quarter of the time of all migrations. */
export async function makeSchema(db: Database, at: Date): Promise<void> {
  script ??= scriptOf()
  await db.script((await script).replaceAll(AT, at.toISOString()))
}

/** Returns the script that makes what the migrations have made. Triggers come last: they see none of the rows. */
async function scriptOf(): Promise<string> {
  const db = await openDatabase(':memory:')
  try {
    await migrate(db, new Date(AT))
    const made = await db.query(
      Made,
      `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    const of = (...types: string[]) => made.filter(({ type }) => types.includes(type)).map(({ sql }) => sql)
    const rows: string[] = []
    for (const { name } of made.filter(({ type }) => type === 'table')) {
      for (const row of await db.query(z.record(z.string(), Cell), `SELECT * FROM ${name}`)) {
        const columns = Object.keys(row).map((column) => `"${column}"`)
        rows.push(`INSERT INTO ${name} (${columns.join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')})`)
      }
    }
    return ['BEGIN', ...of('table'), ...rows, ...of('index', 'trigger', 'view'), 'COMMIT', ''].join(';\n')
  } finally {
    db.close()
  }
}

function literal(cell: z.infer<typeof Cell>): string {
  if (cell === null) return 'NULL'
  return typeof cell === 'number' ? String(cell) : `'${cell.replaceAll("'", "''")}'`
}
