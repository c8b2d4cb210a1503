import { EventEmitter, once } from 'node:events'
import { setImmediate } from 'node:timers/promises'

/** A job may print without a pause; after this many bytes it yields to the event loop. */
const TURN = 256 * 1024
const PIECE = 64 * 1024

const CANCELLED = Symbol('cancelled')

/** A detached job with the contents of its folder. The output keeps the printed buffers without a copy. */
export class Job {
  /** The uid that started it; other accounts cannot see the job. */
  readonly owner: number
  /** The notes that its command wrote beside the output, in lines. */
  readonly notes: string[] = []
  readonly #stop: AbortController
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #chunks: { start: number; data: Uint8Array }[] = []
  #size = 0
  #turn = 0
  #running = true
  #code: number | undefined
  #loss: 'killed' | 'rebooted' = 'killed'

  constructor(owner: number) {
    this.owner = owner
    this.#stop = new AbortController()
  }

  get size(): number {
    return this.#size
  }

  /** The exit code; undefined while the job runs, and always for a lost job. */
  get code(): number | undefined {
    return this.#code
  }

  /** The cause of the loss of a lost job. */
  get loss(): 'killed' | 'rebooted' {
    return this.#loss
  }

  /** Aborted when the host stops under the job. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.signal.throwIfAborted()
    const chunk = typeof data === 'string' ? Buffer.from(data) : data
    if (chunk.length === 0) return
    this.#chunks.push({ start: this.#size, data: chunk })
    this.#size += chunk.length
    this.#changes.emit('change')
    if (this.#size - this.#turn < TURN) return
    this.#turn = this.#size
    await setImmediate()
  }

  end(code: number): void {
    if (!this.#running) return
    this.#running = false
    this.#code = code
    this.#changes.emit('change')
  }

  /** Ends the program of the job, which then reports its exit code. */
  cancel(): void {
    this.#stop.abort(CANCELLED)
  }

  get cancelled(): boolean {
    return this.signal.reason === CANCELLED
  }

  /** Ends the job without an exit code, as a reboot does. */
  lose(loss: 'killed' | 'rebooted' = 'killed'): void {
    if (!this.#running) return
    this.#running = false
    this.#loss = loss
    this.#stop.abort()
    this.#changes.emit('change')
  }

  /** The output from that byte on, live, until the job has ended or the signal is aborted. */
  async *read(offset: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let at = offset
    let index = 0
    for (;;) {
      for (let chunk = this.#chunks[index]; chunk && !signal.aborted; chunk = this.#chunks[index]) {
        const piece = chunk.data.subarray(Math.max(0, at - chunk.start), Math.max(0, at - chunk.start) + PIECE)
        if (at >= chunk.start + chunk.data.length) index += 1
        else {
          at += piece.length
          yield piece
        }
      }
      if (signal.aborted || !this.#running) return
      await once(this.#changes, 'change', { signal }).catch(() => {})
    }
  }
}

/** The jobs of a host by their id. */
export type Jobs = Map<string, Job>
