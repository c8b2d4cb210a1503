import * as z from 'zod'
import { startServer } from '../serve/server.ts'
import { answer } from './child.ts'
import { watchLoop } from './loop-delay.ts'
import * as manifest from './manifest.ts'
import { watchCauses } from './stall-causes.ts'

/** The service itself, with the bench's functions and jobs in its manifest. */
const causes = watchCauses()
const { url } = await startServer(process.env, manifest)
const longestStall = watchLoop()

answer(z.object({ what: z.enum(['url', 'collect', 'stall']) }), ({ what }) => {
  if (what === 'url') return url
  if (what === 'stall') return { stall: longestStall(), ...causes() }
  if (!globalThis.gc) throw new Error('--expose-gc is missing')
  globalThis.gc()
  return null
})
