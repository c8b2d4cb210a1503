/**
 * A JSON response that is too long for memory: pieces of its text, produced as the client reads them. The runtime
 * does not check them: the producer parses each part with the declared schema, here or before it is stored.
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
 * A long JSON response that is the same for everyone. The producer has parsed it or built it from data known at the
 * start.
 */
export class KeptJson {
  readonly bytes: Uint8Array<ArrayBuffer>

  constructor(value: object) {
    this.bytes = new TextEncoder().encode(JSON.stringify(value))
  }
}

const kept = new WeakMap<object, KeptJson>()

/**
 * Returns the response for an object that never changes. It is built once, because clients without a session may
 * request it repeatedly.
 */
export function keptJson(value: object): KeptJson {
  const answer = kept.get(value) ?? new KeptJson(value)
  kept.set(value, answer)
  return answer
}
