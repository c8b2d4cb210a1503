import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { rounds } from '../rounds.ts'

/** The changes of each instance at a time. On a busy machine, a hundred would wait longer than a call may. */
const AT_ONCE = rounds(10, 100)

const Count = z.object({ count: z.number() })

test('four instances that change one server at the same time make each change once', async () => {
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const instances = await Promise.all(Array.from({ length: 4 }, () => openDatabase(server.url)))
  onTestFinished(async () => {
    for (const db of instances) await db.close()
  })
  const [first] = instances
  await first?.script(
    'CREATE TABLE notes (author INTEGER, n INTEGER, text BLOB); CREATE INDEX by_author ON notes(author, n)',
  )
  // Like output of jobs: several statements with some 30 KB each. More than four at a time make the server hang.
  const change = (author: number, n: number) => [
    { sql: 'INSERT INTO notes VALUES (?, ?, ?)', args: [author, n, Buffer.alloc(30_000, n)] },
    { sql: 'UPDATE notes SET text = ? WHERE author = ? AND n < ?', args: [Buffer.alloc(0), author, n - 10] },
  ]

  const ended: string[] = []
  const changeAll = async (db: Database, author: number) => {
    for (let from = 0; from < 100; from += AT_ONCE) {
      const round = Array.from({ length: AT_ONCE }, (_, n) => db.batch(change(author, from + n)))
      for (const end of await Promise.allSettled(round))
        ended.push(end.status === 'fulfilled' ? String(end.value) : end.reason.message)
    }
  }
  await Promise.all(instances.map(changeAll))

  expect(ended).toHaveLength(400)
  expect(ended.filter((end) => !end.startsWith('1,'))).toEqual([])
  expect(await first?.query(Count, 'SELECT count(DISTINCT author * 1000 + n) AS count FROM notes')).toEqual([
    { count: 400 },
  ])
  expect(await first?.query(Count, 'SELECT count(*) AS count FROM notes')).toEqual([{ count: 400 }])
})
