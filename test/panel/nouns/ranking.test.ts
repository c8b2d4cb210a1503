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

test('equal matches keep their order, unless one was chosen recently', () => {
  expect(ids('web')).toEqual(['open', 'stop'])
  expect(ids('web', ['stop'])).toEqual(['stop', 'open'])
})

test('a recent choice does not outrank a better match', () => {
  const all = [
    { id: 'part', title: 'Accommoder' },
    { id: 'start', title: 'Modules' },
  ]
  expect(ranked('mod', all, ['part']).map(({ of }) => of.id)).toEqual(['start', 'part'])
})

test('additional words match too, but rank below titles', () => {
  expect(ids('101')).toEqual(['open', 'stop'])
  expect(ids('prod')).toEqual(['start', 'open', 'stop'])
})

test('ranges are reported separately for the title and the additional words', () => {
  expect(ranked('arr pro', ALL, [])[0]).toMatchObject({ of: { id: 'stop' }, inTitle: [[0, 3]], inMore: [[4, 7]] })
})
