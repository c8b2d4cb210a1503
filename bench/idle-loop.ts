import * as z from 'zod'
import { answer } from './child.ts'
import { watchLoop } from './loop-delay.ts'

/** The control: an idle process that watches its own event loop. */
const longestStall = watchLoop()
answer(z.object({}), () => longestStall())
