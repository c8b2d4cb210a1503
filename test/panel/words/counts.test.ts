import { expect, test } from 'vitest'
import { en } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'

test('a run in the history names its targets with the colon of its language', () => {
  expect(fr.updates.runOf(3, 'db, web et dns')).toBe('3 cibles\u00a0: db, web et dns')
  expect(en.updates.runOf(3, 'db, web and dns')).toBe('3 targets: db, web and dns')
})
