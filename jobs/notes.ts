/*
 * The live notes of a running command, in JSON. Without them, people would see the phase of a job only after its end, and
 * a command could not ask for what only the service can find out.
 */
import * as z from 'zod'
import { parseJson } from '../platform/untrusted.ts'

/** `{"phase": word}`: the phase that begins. `{"ask": word}`: a question, for whose answer the command waits. */
const Note = z.object({
  phase: z
    .string()
    .regex(/^[a-z_]{1,30}$/)
    .optional(),
  ask: z
    .string()
    .regex(/^[a-z_0-9]{1,30}$/)
    .optional(),
})

/** Notes that come at once are taken together: a new follower gets all earlier ones, and only the last one counts. */
const TOGETHER_MS = 20

/** The notes of one job, in the order in which its command writes them. */
export interface LiveNotes {
  take(note: string): void
  /** Settles when all notes taken so far have had their effect. */
  settled(): Promise<void>
}

/** `phase` and `answer` are called one after another, and must not reject. */
export function createLiveNotes({
  phase,
  answer,
}: {
  phase(phase: string): Promise<void>
  answer(question: string): Promise<void>
}): LiveNotes {
  let waiting: z.infer<typeof Note>[] = []
  let work: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let last: string | undefined
  const answered = new Set<string>()

  const review = () => {
    clearTimeout(timer)
    timer = undefined
    const notes = waiting
    waiting = []
    const begun = notes.findLast((note) => note.phase !== undefined)?.phase
    // A command that has noted more since then no longer waits.
    const question = notes.at(-1)?.ask
    work = work.then(async () => {
      if (begun !== undefined && begun !== last) await phase(begun)
      last = begun ?? last
      if (question === undefined || answered.has(question)) return
      answered.add(question)
      await answer(question)
    })
  }

  return {
    take(text) {
      const { data: note } = Note.safeParse(parseJson(text))
      if (!note) return
      waiting.push(note)
      timer ??= setTimeout(review, TOGETHER_MS)
    },
    settled() {
      if (timer !== undefined) review()
      return work
    },
  }
}
