import * as z from 'zod'

/**
 * `safeParse` for what strangers send. Some of zod's checks run on values of another type, and throw: of
 * `{"length": {"toString": ""}}` the length is compared where a text was expected.
 */
export function checked<schema extends z.ZodType>(
  schema: schema,
  value: unknown,
): { success: true; data: z.output<schema> } | { success: false; error: z.ZodError } {
  try {
    return schema.safeParse(value)
  } catch (cause) {
    const error = new z.ZodError([{ code: 'custom', path: [], message: 'Entrée invalide', input: value }])
    error.cause = cause
    return { success: false, error }
  }
}
