import { StringDecoder } from 'node:string_decoder'

/** Nobody types a longer password; what comes after it is let go. */
const LIMIT = 64 * 1024

/** What a client sends to an imitated program: read by the line, and watched for its end. */
export class Stdin {
  readonly #ended = new AbortController()
  readonly #waiting: (() => void)[] = []
  /** A character may come in two pieces. */
  readonly #decoder = new StringDecoder()
  #text = ''

  /** Aborted once no more can come. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  push(chunk: Buffer): void {
    if (this.#text.length < LIMIT) this.#text += this.#decoder.write(chunk)
    this.#wake()
  }

  end(): void {
    this.#ended.abort()
    this.#wake()
  }

  /** The next line without its end; undefined when there is none any more. */
  async readLine(): Promise<string | undefined> {
    while (!this.#text.includes('\n') && !this.ended.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    if (this.#text === '') return undefined
    const end = this.#text.indexOf('\n')
    const line = end < 0 ? this.#text : this.#text.slice(0, end)
    this.#text = end < 0 ? '' : this.#text.slice(end + 1)
    return line
  }

  /** The next character; undefined when there is none any more, or once somebody gives up waiting. */
  async readKey(signal?: AbortSignal): Promise<string | undefined> {
    const wake = () => this.#wake()
    signal?.addEventListener('abort', wake, { once: true })
    while (this.#text === '' && !this.ended.aborted && !signal?.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    signal?.removeEventListener('abort', wake)
    const [key] = signal?.aborted ? [] : this.#text
    this.#text = this.#text.slice(key?.length ?? 0)
    return key
  }

  /** What was read too soon comes again. */
  putBack(text: string): void {
    this.#text = text + this.#text
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** An stdin from which nothing comes, like `/dev/null`. */
export function noStdin(): Stdin {
  const stdin = new Stdin()
  stdin.end()
  return stdin
}
