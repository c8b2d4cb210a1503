import * as z from 'zod'
import { type Components, isRecord, Schema } from './json-schema.ts'

const Message = z.looseObject({ contentType: z.string(), payload: Schema })
const Channel = z.looseObject({
  address: z.string(),
  parameters: z.record(z.string(), z.looseObject({ examples: z.array(z.string()).optional() })).default({}),
  messages: z.record(z.string(), Message),
  bindings: z.looseObject({ ws: z.looseObject({ query: Schema.optional() }) }),
  'x-auth': z.enum(['none', 'optional', 'user', 'operator', 'admin']),
  'x-subprotocol': z.string(),
  'x-close-codes': z.array(z.looseObject({ code: z.number() })),
})
const Reference = z.object({ $ref: z.string() })
const Operation = z.looseObject({
  action: z.enum(['send', 'receive']),
  channel: Reference,
  messages: z.array(Reference),
})
const Document = z.looseObject({
  asyncapi: z.string().startsWith('3.'),
  channels: z.record(z.string(), Channel),
  operations: z.record(z.string(), Operation),
  components: z.looseObject({ schemas: z.record(z.string(), Schema).default({}) }),
})

export type Message = z.infer<typeof Message>
export interface Channel extends z.infer<typeof Channel> {
  /** The messages that the service sends, by name. */
  sends: ReadonlyMap<string, Message>
  /** The messages that the service accepts. */
  takes: ReadonlyMap<string, Message>
}

export interface AsyncApi {
  channels: readonly Channel[]
  components: Components
  /** The document without any change. */
  raw: Record<string, unknown>
}

/** Reads a served document. */
export function readAsyncApi(served: unknown): AsyncApi {
  const { channels, operations, components } = Document.parse(served)
  const of = (name: string, action: 'send' | 'receive', messages: Record<string, Message>) => {
    const own = Object.values(operations).filter(
      (each) => each.action === action && each.channel.$ref === `#/channels/${name}`,
    )
    return new Map(
      own
        .flatMap((each) => each.messages)
        .map(({ $ref }) => {
          const message = messages[$ref.split('/').at(-1) ?? '']
          if (!message) throw new Error(`${$ref} is not in the document`)
          return [$ref.split('/').at(-1) ?? '', message] as const
        }),
    )
  }
  return {
    channels: Object.entries(channels).map(([name, channel]) => ({
      ...channel,
      sends: of(name, 'send', channel.messages),
      takes: of(name, 'receive', channel.messages),
    })),
    components: components.schemas,
    raw: isRecord(served) ? served : {},
  }
}

/** The component with the same examples as a parameter, because parameters have no schema in AsyncAPI. */
export function componentLike(
  { examples = [] }: { examples?: readonly string[] | undefined },
  components: Components,
): string | undefined {
  const [first] = examples
  return Object.entries(components).find(
    ([, schema]) => first !== undefined && schema.examples?.some((each) => String(each) === first),
  )?.[0]
}
