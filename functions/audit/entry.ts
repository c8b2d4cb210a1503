import * as z from 'zod'

/** The details of an entry. */
export const Details = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

/** Parses the stored details of an entry. */
export function detailsOf(text: string | null): z.infer<typeof Details> | null {
  return text === null ? null : Details.parse(JSON.parse(text))
}
