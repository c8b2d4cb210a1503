import { createUserLimit } from '../platform/user-limit.ts'
import { fail } from './errors.ts'

/**
 * A JSON response that is too long for memory: pieces of its text, produced as the client reads them. The runtime
 * does not check them: the producer parses each part with the declared schema, when it writes the part or before it stored it.
 */
export class JsonStream {
  readonly pieces: AsyncIterable<string>

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/**
 * Returns the body of such a response. An error is passed to `failed` and aborts the connection, so the client cannot
 * take the response for complete.
 */
export function bodyOf({ pieces }: JsonStream, failed: (error: unknown) => void): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        failed(error)
        controller.error(error)
      }
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** Escapes a text for JSON, without the quotation marks. The text must consist of whole characters. */
export function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/**
 * A long JSON response that is encoded once and sent to everyone. The runtime does not check it against the schema: the
 * producer has done so.
 */
export class CachedJson {
  readonly bytes: Uint8Array<ArrayBuffer>

  constructor(value: object) {
    this.bytes = new TextEncoder().encode(JSON.stringify(value))
  }
}

const cached = new WeakMap<object, CachedJson>()

/**
 * Returns the response for an object that never changes. It is built once, because clients without a session may
 * request it repeatedly.
 */
export function cachedJson(value: object): CachedJson {
  const answer = cached.get(value) ?? new CachedJson(value)
  cached.set(value, answer)
  return answer
}

/** Long responses that one user may read at a time; each may have many megabytes. */
const LONG_ANSWERS = 2
/** A long response that nobody reads keeps its slot for this long. */
const IDLE_MS = 30_000
/** Seconds for `Retry-After`: reading a long response takes seconds. */
const AGAIN_S = 5

/**
 * Creates the limit on concurrent long responses: two per user (see `UserLimit`), because each one occupies the
 * database and memory. Throws `rate_limited`, which the endpoint must declare, for a third one.
 */
export function createLongAnswers(): (service: object, user: number, pieces: AsyncGenerator<string>) => JsonStream {
  const readers = createUserLimit(LONG_ANSWERS, IDLE_MS)
  return (service, user, pieces) => {
    const reading = readers.read(service, user, pieces)
    if (!reading) throw fail('rate_limited', { values: { seconds: AGAIN_S }, retryAfter: AGAIN_S })
    return new JsonStream(reading)
  }
}
