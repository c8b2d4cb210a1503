import { PerformanceObserver } from 'node:perf_hooks'
import Libsql from 'libsql'

/** The longest pause of each cause that can block the event loop, in milliseconds. */
export interface Causes {
  collection: number
  database: number
}

/** Watches V8's collections and the calls of a local database. Returns the longest pauses since the last call. */
export function watchCauses(): () => Causes {
  let longest: Causes = { collection: 0, database: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest.collection = Math.max(longest.collection, duration)
  }).observe({ entryTypes: ['gc'] })

  const timed = <args extends unknown[], result>(call: (...args: args) => result) =>
    function (this: unknown, ...args: args): result {
      const began = performance.now()
      try {
        return call.apply(this, args)
      } finally {
        longest.database = Math.max(longest.database, performance.now() - began)
      }
    }
  const { prepare, exec } = Libsql.prototype
  Libsql.prototype.exec = timed(exec)
  Object.defineProperty(Libsql.prototype, 'prepare', {
    value(this: Libsql.Database, source: string) {
      const statement = prepare.call(this, source)
      statement.run = timed(statement.run)
      statement.all = timed(statement.all)
      return statement
    },
  })
  return () => {
    const last = longest
    longest = { collection: 0, database: 0 }
    return last
  }
}
