import * as z from 'zod'

/** A kind of frame: text that is JSON of this schema, or bytes where there is none. */
export interface FrameKind {
  description: string
  schema?: z.ZodType
  example?: unknown
}

/** Declares a kind of text frame; the example is held to the schema. */
export function textFrame<schema extends z.ZodType>(
  description: string,
  schema: schema,
  example: NoInfer<z.input<schema>>,
): FrameKind {
  return { description, schema, example }
}

/** An event as `frame` puts it on the wire: `seq` is how far its topic's stream has come with it. */
export function envelope<type extends string, data extends z.ZodType>(type: type, topic: string, data: data) {
  return z.object({
    type: z.literal(type),
    topic: z.string().meta({ description: `\`${topic}\`` }),
    seq: z.int().min(0),
    data,
  })
}
