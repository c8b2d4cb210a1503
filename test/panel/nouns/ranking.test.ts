import { expect, test } from 'vitest'
import { ranked } from '../../../panel/nouns/ranking.ts'

const ALL = [
  { id: 'containers', title: 'Conteneurs' },
  { id: 'open', title: 'Ouvrir web', more: '101 prod' },
  { id: 'stop', title: 'Arrêter web', more: '101 prod' },
  { id: 'start', title: 'Démarrer prod' },
]

function ids(search: string, recent: string[] = []): string[] {
  return ranked(search, ALL, recent).map(({ of }) => of.id)
}

test('of what matches as well the first stays first, unless another was chosen lately', () => {
  expect(ids('web')).toEqual(['open', 'stop'])
  expect(ids('web', ['stop'])).toEqual(['stop', 'open'])
})

test('what was chosen lately does not win over what matches better', () => {
  const all = [
    { id: 'part', title: 'Accommoder' },
    { id: 'start', title: 'Modules' },
  ]
  expect(ranked('mod', all, ['part']).map(({ of }) => of.id)).toEqual(['start', 'part'])
})

test('also found by other words, after those that have them in their title', () => {
  expect(ids('101')).toEqual(['open', 'stop'])
  expect(ids('prod')).toEqual(['start', 'open', 'stop'])
})

test('what matched is told for the title and for the other words, each from its own beginning', () => {
  expect(ranked('arr pro', ALL, [])[0]).toMatchObject({ of: { id: 'stop' }, inTitle: [[0, 3]], inMore: [[4, 7]] })
})
