import type { Database } from '../../db/libsql/database.ts'
import type { PlanRow } from '../../db/plans.ts'
import type { User } from '../../runtime/context.ts'
import { createLongAnswers, JsonStream } from '../../runtime/json-stream.ts'
import { Plan, planOf } from './plan.ts'

/**
 * The longest lists of changes and of files, in characters, that do not count towards the limit on concurrent long responses. A
 * target may report ten times as many, and each response is held in memory.
 */
const LONG = 512 * 1024
const longAnswer = createLongAnswers()
/** Changes in one piece of a response. */
const A_PIECE = 100

/** Returns the response with a plan. Throws `rate_limited` when a user reads several very long ones at a time. */
export function planAnswer(db: Database, user: User, row: PlanRow, now: Date): JsonStream {
  const body = pieces(planOf(row, now, user))
  return row.actions.length + row.conffiles.length <= LONG ? new JsonStream(body) : longAnswer(db, user.id, body)
}

/** Yields the changes last and in pieces, so that the event loop has other turns in between. */
async function* pieces({ actions, ...rest }: Plan): AsyncGenerator<string> {
  yield `${JSON.stringify(Plan.omit({ actions: true }).parse(rest)).slice(0, -1)},"actions":[`
  for (let at = 0; at < actions.length; at += A_PIECE) {
    const some = JSON.stringify(actions.slice(at, at + A_PIECE))
    yield `${at === 0 ? '' : ','}${some.slice(1, -1)}`
  }
  yield ']}'
}
