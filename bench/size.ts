import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { startService } from '../test/host/service.ts'
import { startLibsqlServer } from '../test/libsql-server.ts'
import { startChild } from './child.ts'
import type { RowName } from './explanations.ts'
import { awaitNewJob, startJob } from './follow.ts'
import { onHost, withLocalFolder } from './host.ts'
import { memory } from './memory.ts'
import { type Panel, startPanel } from './panel.ts'
import { median, type Row } from './table.ts'

const MIB = 1024 * 1024
const SETTLED_MS = 3_000
const STARTS = 3
const JOBS = 200
const MEBIBYTES = 20
const FOLLOWERS = 1_000
const LOAD_MS = 3_000
const READERS = 8
const GO = '/var/tmp/bench-go'

/** The given number of bytes in lines like apt's. */
const PRINT =
  'seq -f "Get:%.0f http://mirror.example/debian bookworm/main amd64 ops-panel-bench all 1.0-1 [64.0 kB]" 999999999 | head -c "$1"'
/** A few packages: some forty lines. */
const SMALL_BYTES = 3_000
const HOLD = 'echo ready; until [ -e "$1" ]; do sleep 0.05; done'
const READY = 'ready\n'

/** Figures for planning a machine: memory, growth of the database, statements a second. They have no goals. */
export async function size(): Promise<Row[]> {
  return [await atRest(), ...(await withLocalFolder(grown)), ...(await statements())]
}

/** The bundle with a host in its settings that it never contacts. */
async function atRest(): Promise<Row> {
  const seen: number[] = []
  for (let start = 0; start < STARTS; start += 1) {
    const service = await startService()
    await pause(SETTLED_MS)
    seen.push((await memory(service.pid)).now)
    await service.stop()
  }
  return figure('memory at rest', median(seen), 'MiB', STARTS)
}

async function grown(): Promise<Row[]> {
  const panel = await startPanel()
  const db = await openDatabase(`file:${panel.folder}/panel.db`)
  try {
    const run = (bytes: number) => runJob(panel, ['-c', PRINT, 'bench', String(bytes)])
    await run(SMALL_BYTES)
    const empty = await bytesOf(db)
    for (let job = 0; job < JOBS; job += 1) await run(SMALL_BYTES)
    const small = await bytesOf(db)
    await run(MEBIBYTES * MIB)
    const large = await bytesOf(db)
    return [
      figure(`database: a job of ${SMALL_BYTES} bytes`, (small - empty) / JOBS / 1024, 'KiB', JOBS),
      figure('database: 1 MiB of output', (large - small) / MEBIBYTES / 1024, 'KiB', MEBIBYTES),
      figure('memory after them', (await memory(panel.child.pid)).now, 'MiB', 1),
      await ofFollowers(panel),
    ]
  } finally {
    await db.close()
    await panel.stop()
  }
}

function runJob({ url, tokens: [token = ''] }: Panel, args: string[]) {
  return awaitNewJob({ url, token, program: 'sh', args })
}

/** The database's size on disk, without the space of deleted rows. */
async function bytesOf(db: Database): Promise<number> {
  const Pages = z.object({ pages: z.number(), free: z.number(), bytes: z.number() })
  const [row] = await db.query(
    Pages,
    `SELECT page_count AS pages, freelist_count AS free, page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  )
  return row ? (row.pages - row.free) * row.bytes : 0
}

async function ofFollowers({ url, tokens: [token = ''], child }: Panel): Promise<Row> {
  const client = await startChild('./broadcast-client.ts')
  try {
    await child.ask(z.null(), { what: 'collect' })
    const before = await memory(child.pid)
    const job = await startJob({ url, token, program: 'sh', args: ['-c', HOLD, 'bench', GO] })
    await client.ask(z.null(), { what: 'subscribe', url, token, job, subscribers: FOLLOWERS, bytes: READY.length })
    await child.ask(z.null(), { what: 'collect' })
    const during = await memory(child.pid)
    const ended = client.ask(z.number(), { what: 'await' })
    await onHost('touch', GO)
    await ended
    await onHost('rm', GO)
    return figure('memory of a follower', ((during.now - before.now) * 1024) / FOLLOWERS, 'KiB', FOLLOWERS)
  } finally {
    await client.stop()
  }
}

/** A query by the service's own client, at a libSQL server on this machine. */
async function statements(): Promise<Row[]> {
  const server = await startLibsqlServer()
  const db = await openDatabase(server.url)
  try {
    await db.script('CREATE TABLE bench (id INTEGER PRIMARY KEY, text TEXT)')
    const read = () => db.query(z.object({ one: z.number() }), 'SELECT 1 AS one')
    const write = () => db.run('INSERT INTO bench (text) VALUES (?)', ['x'.repeat(200)])
    return [
      figure('libSQL server: reads, one at a time', await rate(read, 1), '/s', 1),
      figure(`libSQL server: reads, ${READERS} at a time`, await rate(read, READERS), '/s', 1),
      figure('libSQL server: writes', await rate(write, 1), '/s', 1),
    ]
  } finally {
    await db.close()
    await server.stop()
  }
}

async function rate(statement: () => Promise<unknown>, atOnce: number): Promise<number> {
  const began = performance.now()
  let done = 0
  const one = async () => {
    while (performance.now() - began < LOAD_MS) {
      await statement()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return done / ((performance.now() - began) / 1000)
}

function figure(name: RowName, value: number, unit: string, rounds: number): Row {
  return { name, goal: undefined, ours: '', anchor: '', result: value, unit, rounds }
}
