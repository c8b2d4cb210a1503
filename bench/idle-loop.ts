import * as z from 'zod'
import { answer } from './child.ts'
import { watchLoop } from './loop-delay.ts'

/** The control: a process that does nothing but watch its own loop. */
const longestStall = watchLoop()
answer(z.object({}), () => longestStall())
