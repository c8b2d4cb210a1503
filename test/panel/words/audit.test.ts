import { expect, test } from 'vitest'
import { AUDIT_ACTIONS } from '../../../functions/services.ts'
import { Outcome } from '../../../functions/protection/run-record.ts'
import { audit as en } from '../../../panel/words/en/audit.ts'
import { audit as fr } from '../../../panel/words/fr/audit.ts'

test.each([
  ['fr', fr],
  ['en', en],
] as const)('every audit action has a sentence and a name in %s', (_, audit) => {
  expect(Object.keys(audit.sentences).sort()).toEqual([...AUDIT_ACTIONS].sort())
  expect(Object.keys(audit.actions).sort()).toEqual([...AUDIT_ACTIONS].sort())
  const told = Object.values(audit.sentences).map((sentence) => sentence({ who: 'alice', what: 'web' }))
  expect(new Set(told).size).toBe(AUDIT_ACTIONS.length)
  expect(new Set(Object.values(audit.actions)).size).toBe(AUDIT_ACTIONS.length)
})

test('French sentences contract the article of a container', () => {
  const told = Object.values(fr.sentences).map((sentence) =>
    sentence({ who: 'alice', what: fr.targets.container('web') }),
  )
  expect(told.filter((sentence) => /\bde le\b/.test(sentence))).toEqual([])
  expect(told).toContain('alice a modifié la protection du conteneur web')
})

test.each([
  ['fr', fr],
  ['en', en],
] as const)(
  'every end of an upgrade, a rollback and an application’s update is told by its own sentence in %s',
  (_, audit) => {
    expect(Object.keys(audit.ends).sort()).toEqual([...Outcome.options].sort())
    expect(Object.keys(audit.outcomes).sort()).toEqual([...Outcome.options].sort())
    const told = Object.values(audit.endedJobs).flatMap((job) =>
      Object.values(audit.ends).map((end) => end(job('web'))),
    )
    expect(new Set(told).size).toBe(3 * Outcome.options.length)
    expect(told.filter((sentence) => !sentence.includes('web'))).toEqual([])
  },
)

test('every detail with a name has one in both languages, other than its key', () => {
  for (const { fields } of [fr, en]) {
    expect(Object.entries(fields).filter(([key, name]) => key === name || name === '')).toEqual([])
  }
  expect(Object.keys(fr.fields)).toEqual(Object.keys(en.fields))
})
