/*
 * The log of a service for authors, as they read it: an error of the module is one line with its place, and the service's
 * own jobs, which fail without a host, are left out.
 */

import * as z from 'zod'
import { parseJson } from '../../platform/untrusted.ts'

const Entry = z.object({
  msg: z.string(),
  code: z.string().optional(),
  job: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  err: z.object({ message: z.string(), stack: z.string() }).optional(),
})

/** Returns a line of the log for an author; undefined for one that says nothing about the module. */
export function shownLine(line: string, { hasHost }: { hasHost: boolean }): string | undefined {
  const { data: entry } = Entry.safeParse(parseJson(line))
  if (!entry) return line
  const { msg, code, job, method, path, err } = entry
  if (!hasHost && job !== undefined && code === 'ssh_failed' && msg === 'job failed') return undefined
  const place = err && placeIn(err.stack)
  if (!err || place === undefined) return line
  const where = method && path ? ` (${method} ${path})` : ''
  return `Erreur : ${err.message} — ${place}${where}`
}

/** Returns the first place of a stack that lies in a module, as `backend.mjs:13:40`. */
function placeIn(stack: string): string | undefined {
  const frame = stack.split('\n').find((each) => /^\s+at .*\/modules\/[a-z][a-z0-9-]*\//.test(each))
  return frame && /\/modules\/[a-z][a-z0-9-]*\/([^:]+:\d+:\d+)/.exec(frame)?.[1]
}
