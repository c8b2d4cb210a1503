import { expect, test } from 'vitest'
import { createLiveNotes } from '../../jobs/notes.ts'

const NOTES = [{ phase: 'protecting' }, { ask: 'before' }, { phase: 'upgrading' }, { phase: 'comparing' }]

/** Live notes, and what came of them. */
function live(known?: string) {
  const told: string[] = []
  const notes = createLiveNotes({
    known,
    phase: async (phase) => void told.push(phase),
    answer: async (question) => told.push(`${question}?`) > 0,
  })
  /** Takes notes that come one after another, with time between them. */
  const take = async (...all: readonly object[]) => {
    for (const note of all) {
      notes.take(JSON.stringify(note))
      await notes.settled()
    }
  }
  return { told, notes, take }
}

test('each phase is told once, and each question while the command waits', async () => {
  const { told, take } = live()

  await take(...NOTES)

  expect(told).toEqual(['protecting', 'before?', 'upgrading', 'comparing'])
})

test('a new connection, which repeats all notes one after another, takes no phase back', async () => {
  const { told, notes, take } = live()
  await take(...NOTES.slice(0, 3))
  told.length = 0

  notes.again()
  await take(...NOTES)

  expect(told).toEqual(['comparing'])
})

test('a new follower goes on at the recorded phase, and answers the question that is open there', async () => {
  const { told, take } = live('upgrading')

  await take(...NOTES.slice(0, 3), { ask: 'after' }, { phase: 'comparing' })

  expect(told).toEqual(['after?', 'comparing'])
})

test('only the last one of notes that come together counts', async () => {
  const { told, notes } = live()

  for (const note of NOTES) notes.take(JSON.stringify(note))
  await notes.settled()

  expect(told).toEqual(['comparing'])
})

/** Live notes whose answers end when a test says so. */
function slow() {
  const phases: string[] = []
  const asked: { question: string; signal: AbortSignal; answered(isAnswered: boolean): void }[] = []
  const notes = createLiveNotes({
    known: undefined,
    phase: async (phase) => void phases.push(phase),
    answer: (question, signal) =>
      new Promise((answered) => {
        asked.push({ question, signal, answered })
      }),
  })
  const take = async (...all: readonly object[]) => {
    for (const note of all) notes.take(JSON.stringify(note))
    await notes.settled()
  }
  return { phases, asked, notes, take }
}

test('phases go on while an answer takes its time', async () => {
  const { phases, asked, take } = slow()

  await take({ ask: 'api_rollback_1772366400_panel-1772366400-k3x9q2pa' })
  await take({ phase: 'done' })

  expect(phases).toEqual(['done'])
  expect(asked.map(({ question, signal }) => [question, signal.aborted])).toEqual([
    ['api_rollback_1772366400_panel-1772366400-k3x9q2pa', false],
  ])
})

test('a question is answered once, however often its note comes, and again after a failure', async () => {
  const { asked, notes, take } = slow()
  await take({ ask: 'one' })
  notes.again()
  await take({ ask: 'one' })
  expect(asked).toHaveLength(1)

  asked[0]?.answered(false)
  const again = async () => {
    await take({ ask: 'one' })
    return asked.length
  }
  await expect.poll(again).toBe(2)
  asked[1]?.answered(true)
  await take({ phase: 'next' })
  await take({ ask: 'one' })

  expect(asked).toHaveLength(2)
})

test('the next question ends the answer to the one before, and the end of the job the last one', async () => {
  const { asked, notes, take } = slow()

  await take({ ask: 'one' })
  await take({ ask: 'two' })
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false])
  notes.close()

  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true])
})

test.each(['', 'UP', '../exit', 'a b', 'a/b', 'a.new', '-a', 'a'.repeat(81)])('%j is no question', async (ask) => {
  const { asked, take } = slow()

  await take({ ask })

  expect(asked).toEqual([])
})
