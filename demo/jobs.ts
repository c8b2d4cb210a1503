import { EventEmitter, once } from 'node:events'
import { setImmediate } from 'node:timers/promises'

/** A job may print without a pause; after this many bytes it yields to the event loop. */
const TURN = 256 * 1024
const PIECE = 64 * 1024

const CANCELLED = Symbol('cancelled')

/** Whether the signal of a job's program was aborted because the job was cancelled. */
export function isCancelled({ reason }: AbortSignal): boolean {
  return reason === CANCELLED
}

/** A detached job with the contents of its folder. The output keeps the printed buffers without a copy. */
export class Job {
  /** The uid that started it; other accounts cannot see the job. */
  readonly owner: number
  /** The notes that its command wrote beside the output, in lines. */
  readonly notes: string[] = []
  /** The service's answers to its command, in lines for each question. */
  readonly answers = new Map<string, readonly string[]>()
  readonly #stop: AbortController
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #chunks: { start: number; data: Uint8Array }[] = []
  #size = 0
  #turn = 0
  #running = true
  #code: number | undefined
  #loss: 'killed' | 'rebooted' = 'killed'
  readonly #tellsNotes: boolean

  /** `tellsNotes`: a follower gets the notes as they are written, not only at the end. */
  constructor(owner: number, { tellsNotes = false } = {}) {
    this.owner = owner
    this.#tellsNotes = tellsNotes
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

  note(line: string): void {
    if (!this.#running) return
    this.notes.push(line)
    this.#changes.emit('change')
  }

  answer(question: string, lines: readonly string[]): void {
    this.answers.set(question, lines)
    this.#changes.emit('change')
  }

  /** Settles when the service has answered a question, with its lines; undefined when the time is over. */
  async answered(question: string, ms: number): Promise<readonly string[] | undefined> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(ms)])
    while (!this.answers.has(question) && !signal.aborted) {
      await once(this.#changes, 'change', { signal }).catch(() => {})
    }
    this.signal.throwIfAborted()
    return this.answers.get(question)
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
    return isCancelled(this.signal)
  }

  /** Ends the job without an exit code, as a reboot does. */
  lose(loss: 'killed' | 'rebooted' = 'killed'): void {
    if (!this.#running) return
    this.#running = false
    this.#loss = loss
    this.#stop.abort()
    this.#changes.emit('change')
  }

  /**
   * The output from that byte on, live, until the job has ended or the signal is aborted. Between its pieces come the
   * lines of the notes of a running job that tells them, as text.
   */
  async *read(offset: number, signal: AbortSignal): AsyncGenerator<Uint8Array | string> {
    const isNoting = this.#tellsNotes && this.#running
    let at = offset
    let index = 0
    let noted = 0
    for (;;) {
      for (; isNoting && noted < this.notes.length && !signal.aborted; noted += 1) yield `${this.notes[noted]}\n`
      for (let chunk = this.#chunks[index]; chunk && !signal.aborted; chunk = this.#chunks[index]) {
        const piece = chunk.data.subarray(Math.max(0, at - chunk.start), Math.max(0, at - chunk.start) + PIECE)
        if (at >= chunk.start + chunk.data.length) index += 1
        else {
          at += piece.length
          yield piece
        }
      }
      if (signal.aborted || !this.#running) return
      // Notes may have come while a piece was read.
      if (isNoting && noted < this.notes.length) continue
      await once(this.#changes, 'change', { signal }).catch(() => {})
    }
  }
}

/** The jobs of a host by their id. */
export type Jobs = Map<string, Job>
