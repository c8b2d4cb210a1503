import * as z from 'zod'
import type { Caller } from './client.ts'

const Page = z.object({
  entries: z.array(
    z.object({
      action: z.string(),
      username: z.string().nullable(),
      target: z.string().nullable(),
      details: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
})

/** Returns the newest entries of the audit log that match a query, as an administrator reads them. */
export async function auditEntries(admin: Caller, query: string) {
  return Page.parse((await admin.get(`/api/audit?${query}`)).body).entries
}
