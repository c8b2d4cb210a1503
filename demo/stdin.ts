import { StringDecoder } from 'node:string_decoder'

/** Nobody types a longer password; further input is dropped. */
const LIMIT = 64 * 1024

/** The input of an imitated program: read line by line, and watched for its end. */
export class Stdin {
  readonly #ended = new AbortController()
  readonly #waiting: (() => void)[] = []
  /** A character may arrive in two chunks. */
  readonly #decoder = new StringDecoder()
  #text = ''

  /** Aborted when the input has ended. */
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

  /** The next line without its line end; undefined at the end of the input. */
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

  /** The next character; undefined at the end of the input, or when the signal is aborted. */
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

  /** Puts text back in front of the input. */
  putBack(text: string): void {
    this.#text = text + this.#text
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** An empty stdin, like `/dev/null`. */
export function noStdin(): Stdin {
  const stdin = new Stdin()
  stdin.end()
  return stdin
}
