/*
 * The live notes of a running command, in JSON. Without them, people would see the phase of a job only after its end, and
 * a command could not ask for what only the service can find out.
 */
import * as z from 'zod'
import { parseJson } from '../platform/untrusted.ts'

/**
 * `{"phase": word}`: the phase that begins. `{"ask": question}`: a question, for whose answer the command waits. Its
 * answer is a file with this name at its end.
 */
const Note = z.object({
  phase: z
    .string()
    .regex(/^[a-z_]{1,30}$/)
    .optional(),
  ask: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,79}$/)
    .optional(),
})

/** Notes that come at once are taken together: only the last one counts. */
const TOGETHER_MS = 20

/** The notes of one job, in the order in which its command writes them. */
export interface LiveNotes {
  take(note: string): void
  /** Says that a new connection begins, which repeats the notes from the first one on. */
  again(): void
  /** Settles when the phases of all notes taken so far have had their effect. */
  settled(): Promise<void>
  /** Ends an answer that is not complete. */
  close(): void
}

/**
 * `phase` is called for one phase after another. `answer` may take as long as the command waits, and resolves with
 * whether it has answered: a question is answered once, and again after a failure when its note comes again. The next
 * question ends it. Both must not reject. `known` is the phase that an earlier follower
 * has recorded. Each phase comes once in the notes, so those before the known one are old: they would take the job back.
 */
export function createLiveNotes({
  known,
  phase,
  answer,
}: {
  known: string | undefined
  phase(phase: string): Promise<void>
  answer(question: string, signal: AbortSignal): Promise<boolean>
}): LiveNotes {
  let waiting: z.infer<typeof Note>[] = []
  let work: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let last = known
  let isRepeated = known !== undefined
  const answered = new Set<string>()
  let asked: { question: string; ending: AbortController } | undefined

  const ask = (question: string) => {
    if (answered.has(question) || asked?.question === question) return
    asked?.ending.abort()
    const own = { question, ending: new AbortController() }
    asked = own
    void answer(question, own.ending.signal).then((isAnswered) => {
      if (isAnswered) answered.add(question)
      if (asked === own) asked = undefined
    })
  }

  const review = () => {
    clearTimeout(timer)
    timer = undefined
    const notes = waiting
    waiting = []
    const phases: string[] = []
    for (const { phase: begun } of notes) {
      if (begun === undefined) continue
      if (!isRepeated && begun !== last) phases.push(begun)
      else if (begun === last) isRepeated = false
    }
    const begun = phases.at(-1)
    last = begun ?? last
    // A command that has noted more since then no longer waits.
    const question = isRepeated ? undefined : notes.at(-1)?.ask
    work = work.then(async () => {
      if (begun !== undefined) await phase(begun)
      if (question !== undefined) ask(question)
    })
  }

  return {
    take(text) {
      const { data: note } = Note.safeParse(parseJson(text))
      if (!note) return
      waiting.push(note)
      timer ??= setTimeout(review, TOGETHER_MS)
    },
    again() {
      if (timer !== undefined) review()
      isRepeated = last !== undefined
    },
    settled() {
      if (timer !== undefined) review()
      return work
    },
    close() {
      asked?.ending.abort()
    },
  }
}
