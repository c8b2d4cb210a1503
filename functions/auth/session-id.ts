import * as z from 'zod'
import { documentedAs } from '../../runtime/input.ts'

export const SessionId = z
  .int()
  .positive()
  .meta({ id: 'SessionId', description: 'Names a session.', examples: [12] })

/** The id in an address. Text that is not a number means a session that does not exist. */
export const GivenSessionId = documentedAs(SessionId, z.string())
