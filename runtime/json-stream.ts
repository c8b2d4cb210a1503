/**
 * A JSON answer that is too long to be held, given as pieces of its text, one after the other as the client takes them.
 * Who makes it has parsed each part by the declared schema.
 */
export class JsonStream {
  readonly pieces: AsyncIterable<string>

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/** The body of such an answer. What fails on the way is told to `failed` and breaks the connection off: it is no whole answer. */
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

/** A text inside JSON, without its quotation marks; of whole characters. */
export function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** A long JSON answer that is the same for everybody. Who makes it has parsed it, or made it of what is known at the start. */
export class KeptJson {
  readonly bytes: Uint8Array<ArrayBuffer>

  constructor(value: object) {
    this.bytes = new TextEncoder().encode(JSON.stringify(value))
  }
}

const kept = new WeakMap<object, KeptJson>()

/** The answer of an object, which does not change: made once, as a stranger may ask for it again and again. */
export function keptJson(value: object): KeptJson {
  const answer = kept.get(value) ?? new KeptJson(value)
  kept.set(value, answer)
  return answer
}
