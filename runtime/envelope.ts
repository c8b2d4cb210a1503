import * as z from 'zod'

/** An event as `frame` puts it on the wire: `seq` is how far its topic's stream has come with it. */
export function envelope<type extends string, data extends z.ZodType>(type: type, topic: string, data: data) {
  return z.object({
    type: z.literal(type),
    topic: z.string().meta({ description: `\`${topic}\`` }),
    seq: z.int().min(0),
    data,
  })
}
