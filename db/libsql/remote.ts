import { createClient, type InStatement, type InValue } from '@libsql/client/web'
import type { Engine } from './database.ts'
import { remoteCalls, remoteChanges, TIMEOUT_MS } from './remote-calls.ts'

/** Of the client's own limit, whose queue would make calls that were given up long before. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Opens a database of a libSQL server. */
export function openRemote(url: string, authToken: string | undefined): Engine {
  const client = createClient({ url, ...(authToken && { authToken }), concurrency: UNLIMITED, fetch: fetchInTime })
  const asking = remoteCalls()
  const changing = remoteChanges()
  return {
    query: (sql, args) => asking(async () => (await client.execute(statement(sql, args))).rows),
    run: (sql, args) => changing(async () => (await client.execute(statement(sql, args))).rowsAffected),
    batch: (statements) =>
      changing(async () => {
        const list = statements.map(({ sql, args }) => statement(sql, args))
        const results = await client.batch(list, 'write')
        return results.map(({ rowsAffected }) => rowsAffected)
      }),
    script: (sql) => changing(() => client.executeMultiple(sql)),
    reconnect: () => asking(async () => client.reconnect()),
    close: async () => client.close(),
  }
}

function statement(sql: string, args: InValue[] = []): InStatement {
  return { sql, args }
}

/** Gives its connection up in time as well: one to a server that is gone without a word would be waited for for minutes. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
}
