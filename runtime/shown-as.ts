import type * as z from 'zod'

/**
 * A schema that takes more than `known`, for the handler to judge; the documents show `known`, which is a component of theirs: who
 * has such a value from an answer can send it here.
 */
export function shownAs<lax extends z.ZodType>(known: z.ZodType, schema: lax): lax {
  const id = known.meta()?.id
  if (id === undefined) throw new TypeError('what is shown has no id')
  return schema.meta({
    override({ jsonSchema }) {
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
      jsonSchema.$ref = `#/components/schemas/${id}`
    },
  })
}
