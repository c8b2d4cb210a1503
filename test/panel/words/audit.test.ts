import { expect, test } from 'vitest'
import { AUDIT_ACTIONS } from '../../../functions/services.ts'
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
