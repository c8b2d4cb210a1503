import { createClient, type InStatement, type InValue } from '@libsql/client/web'
import type { Engine } from './database.ts'
import { remoteCalls, remoteChanges, TIMEOUT_MS } from './remote-calls.ts'

/** Switches the client's own limit off, because its queue would make calls that have timed out before. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Opens a database of a libSQL server. */
export function openRemote(url: string, authToken: string | undefined): Engine {
  const client = createClient({ url, ...(authToken && { authToken }), concurrency: UNLIMITED, fetch: fetchInTime })
  const reading = remoteCalls()
  const changing = remoteChanges()
  return {
    query: (sql, args) => reading(async () => (await client.execute(statement(sql, args))).rows),
    run: (sql, args) => changing(async () => (await client.execute(statement(sql, args))).rowsAffected),
    batch: (statements) =>
      changing(async () => {
        const list = statements.map(({ sql, args }) => statement(sql, args))
        const results = await client.batch(list, 'write')
        return results.map(({ rowsAffected }) => rowsAffected)
      }),
    script: (sql) => changing(() => client.executeMultiple(sql)),
    reconnect: () => reading(async () => client.reconnect()),
    close: async () => client.close(),
  }
}

function statement(sql: string, args: InValue[] = []): InStatement {
  return { sql, args }
}

/** Aborts in time: otherwise a connection to a dead server would stay open for minutes. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
}
