import type { JobCount } from '../../db/job-list.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'

/** The metrics of an instance for Prometheus, in the text format 0.0.4. */
export interface Metrics {
  contentType: string
  text(): Promise<string>
  /** Counts one HTTP request. `path` is the declared path, so that ids do not create series. */
  request(method: string, path: string, status: number, seconds: number): void
  /** Wraps the database: measures the time of each call, waiting included. */
  timed(db: Database): Database
}

/** Values read when the metrics are requested, instead of counted all along. */
export interface Looked {
  sockets(): number
  sshConnections(): number
  /** Returns the number of jobs of each kind and status. */
  jobs(): Promise<JobCount[]>
}

/** Bounds in seconds, from a cached answer to a sign-in on a slow host. */
const REQUEST_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30]
const DATABASE_BUCKETS = [0.0001, 0.0005, 0.002, 0.01, 0.05, 0.5, 5]

/** Imports the library here, because most services publish no metrics. */
export async function createMetrics(): Promise<Metrics & { look(at: Looked): void }> {
  const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'ops_panel_http_requests_total',
    help: 'HTTP requests by method, declared path and status.',
    labelNames: ['method', 'path', 'status'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'ops_panel_http_request_seconds',
    help: 'Time of HTTP requests by method and declared path.',
    labelNames: ['method', 'path'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const databaseSeconds = new Histogram({
    name: 'ops_panel_database_seconds',
    help: 'Time of calls to the database, waiting included.',
    buckets: DATABASE_BUCKETS,
    registers,
  })
  const timed = async <result>(work: () => Promise<result>): Promise<result> => {
    const end = databaseSeconds.startTimer()
    try {
      return await work()
    } finally {
      end()
    }
  }
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request(method, path, status, seconds) {
      requests.inc({ method, path, status })
      requestSeconds.observe({ method, path }, seconds)
    },
    timed: (db) => ({
      ...db,
      query: (row, sql, args) => timed(() => db.query(row, sql, args)),
      run: (sql, args) => timed(() => db.run(sql, args)),
      batch: (statements) => timed(() => db.batch(statements)),
    }),
    look({ sockets, sshConnections, jobs }) {
      new Gauge({
        name: 'ops_panel_sockets',
        help: 'Open WebSockets.',
        registers,
        collect() {
          this.set(sockets())
        },
      })
      new Gauge({
        name: 'ops_panel_ssh_connections',
        help: 'Connections of the service account to the host.',
        registers,
        collect() {
          this.set(sshConnections())
        },
      })
      // One query serves all metrics of a request.
      let asked: Promise<JobCount[] | undefined> | undefined
      const counted = () => {
        asked ??= countOrNothing(jobs).finally(() => {
          asked = undefined
        })
        return asked
      }
      new Gauge({
        name: 'ops_panel_database_up',
        help: 'Whether the database answered when it was asked for this.',
        registers,
        async collect() {
          this.set((await counted()) ? 1 : 0)
        },
      })
      new Gauge({
        name: 'ops_panel_jobs',
        help: 'Recorded jobs by kind and status.',
        labelNames: ['kind', 'status'],
        registers,
        async collect() {
          this.reset()
          for (const { kind, status, count } of (await counted()) ?? []) this.set({ kind, status }, count)
        },
      })
    },
  }
}

/** Returns undefined when the database does not answer: the other metrics matter most then. */
async function countOrNothing(jobs: Looked['jobs']): Promise<JobCount[] | undefined> {
  try {
    return await jobs()
  } catch (error) {
    if (error instanceof StorageError) return undefined
    throw error
  }
}
