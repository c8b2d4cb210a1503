import { expect, test } from 'vitest'
import { END_OF_LIFE, END_OF_LIFE_SOURCE, endOfLifeOf } from '../../../functions/checks/end-of-life.ts'
import { endsOfSupport, tableOf } from '../../../packaging/end-of-life.ts'

test('the table has the releases of today, and only days', () => {
  expect(END_OF_LIFE_SOURCE).toMatch(/^\d+\.\d+(\+deb\d+u\d+)?$/)
  expect(Object.keys(END_OF_LIFE)).toEqual(['debian', 'ubuntu'])
  for (const [id, ends] of Object.entries(END_OF_LIFE))
    for (const [version, end] of Object.entries(ends)) {
      expect(version, id).toMatch(/^\d+(\.\d+)*$/)
      expect(new Date(`${end}T00:00:00Z`).toISOString().slice(0, 10), `${id} ${version}`).toBe(end)
    }
  expect(Object.keys(END_OF_LIFE.debian ?? {})).toEqual(expect.arrayContaining(['10', '11', '12', '13']))
  expect(Object.keys(END_OF_LIFE.ubuntu ?? {})).toEqual(expect.arrayContaining(['20.04', '22.04', '24.04', '26.04']))
})

test.each([
  ['debian', '11', '2026-08-31'],
  ['debian', '12', '2028-06-30'],
  ['ubuntu', '22.04', '2027-06-01'],
  ['debian', '99', null],
  ['debian', null, null],
  ['debian', 'toString', null],
  ['alpine', '3.20', null],
  ['constructor', '12', null],
  ['__proto__', '12', null],
])('the end of life of %s %s is %s', (id, version, end) => {
  expect(endOfLifeOf(id, version)).toBe(end)
})

const DEBIAN = `version,codename,series,created,release,eol,eol-lts,eol-elts
4.0,Etch,etch,2005-06-06,2007-04-08,2010-02-15
12,Bookworm,bookworm,2021-08-14,2023-06-10,2026-06-10,2028-06-30,2033-06-30
14,Forky,forky,2025-08-09
,Sid,sid,1993-08-16
`
const UBUNTU = `version,codename,series,created,release,eol,eol-server,eol-esm
6.06 LTS,Dapper Drake,dapper,2005-10-13,2006-06-01,2009-07-14,2011-06-01
23.10,Mantic Minotaur,mantic,2023-04-20,2023-10-12,2024-07-11
24.04 LTS,Noble Numbat,noble,2023-10-12,2024-04-25,2029-05-31,2029-05-31,2034-04-25
`

test('the generator takes the end of long-term support where there is one, and leaves out what is not released', () => {
  expect(endsOfSupport(DEBIAN, ['eol-lts', 'eol'])).toEqual({ '4.0': '2010-02-15', '12': '2028-06-30' })
  expect(tableOf('0.58+deb12u7', { debian: DEBIAN, ubuntu: UBUNTU })).toContain(`
export const END_OF_LIFE_SOURCE = '0.58+deb12u7'

/** The last day with security updates, by the id of the system and its version. */
export const END_OF_LIFE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  debian: {
    '12': '2028-06-30',
    '4.0': '2010-02-15',
  },
  ubuntu: {
    '6.06': '2011-06-01',
    '23.10': '2024-07-11',
    '24.04': '2029-05-31',
  },
}
`)
  expect(() => tableOf('1', { debian: DEBIAN, ubuntu: '' })).toThrow('no release of ubuntu')
})
