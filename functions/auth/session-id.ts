import * as z from 'zod'
import { shownAs } from '../../runtime/shown-as.ts'

export const SessionId = z
  .int()
  .positive()
  .meta({ id: 'SessionId', description: 'Names a session.', examples: [12] })

/** In an address: one that is no number is a session that does not exist. */
export const GivenSessionId = shownAs(SessionId, z.string())
