import { expect, test } from 'vitest'
import { upgradeAll } from '../../../panel/nouns/checked.ts'

const target = (id: string, packages?: number) => ({ id, name: id, packages })

test('a few containers get one job each, and up-to-date ones get none', () => {
  const web = target('lxc:101', 3)
  const unknown = target('lxc:103')

  expect(upgradeAll([target('host', 0), web, target('lxc:102', 0), unknown])).toEqual({
    jobs: ['lxc:101', 'lxc:103'],
    touched: [web, unknown],
  })
  expect(upgradeAll([target('host', 2)]).jobs).toEqual(['host'])
  expect(upgradeAll([])).toEqual({ jobs: [], touched: [] })
})

test('many containers share one job, and every target that it touches is named', () => {
  const many = Array.from({ length: 6 }, (_, n) => target(`lxc:${101 + n}`, n === 0 ? 0 : 1))

  const { jobs, touched } = upgradeAll([target('host', 1), ...many])

  expect(jobs).toEqual(['host', 'all'])
  expect(touched.map(({ id }) => id)).toEqual(['host', ...many.map(({ id }) => id)])
})
