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
