/**
 * Returns the last day, `YYYY-MM-DD`, on which a release gets security updates: for Debian the end of its long-term
 * support, for Ubuntu the end of its standard support. Null where none is known: other systems, and releases that are
 * not out yet. `id` and `versionId` are those of os-release(5).
 */
export function endOfLifeOf(id: string, versionId: string | null): string | null {
  if (versionId === null || !Object.hasOwn(END_OF_LIFE, id)) return null
  return new Map(Object.entries(END_OF_LIFE[id] ?? {})).get(versionId) ?? null
}

/** The version of Debian's package distro-info-data that the table is from; `npm run end-of-life` renews it. */
export const END_OF_LIFE_SOURCE = '0.58+deb12u7'

/** The last day with security updates, by the id of the system and its version. */
export const END_OF_LIFE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  debian: {
    '7': '2018-05-31',
    '8': '2020-06-30',
    '9': '2022-06-30',
    '10': '2024-06-30',
    '11': '2026-08-31',
    '12': '2028-06-30',
    '13': '2030-06-30',
    '1.1': '1997-06-05',
    '1.2': '1998-06-05',
    '1.3': '1999-03-09',
    '2.0': '2000-03-09',
    '2.1': '2000-10-30',
    '2.2': '2003-06-30',
    '3.0': '2006-06-30',
    '3.1': '2008-03-31',
    '4.0': '2010-02-15',
    '5.0': '2012-02-06',
    '6.0': '2016-02-29',
  },
  ubuntu: {
    '4.10': '2006-04-30',
    '5.04': '2006-10-31',
    '5.10': '2007-04-13',
    '6.06': '2011-06-01',
    '6.10': '2008-04-25',
    '7.04': '2008-10-19',
    '7.10': '2009-04-18',
    '8.04': '2013-05-09',
    '8.10': '2010-04-30',
    '9.04': '2010-10-23',
    '9.10': '2011-04-30',
    '10.04': '2015-04-30',
    '10.10': '2012-04-10',
    '11.04': '2012-10-28',
    '11.10': '2013-05-09',
    '12.04': '2017-04-28',
    '12.10': '2014-05-16',
    '13.04': '2014-01-27',
    '13.10': '2014-07-17',
    '14.04': '2019-04-25',
    '14.10': '2015-07-23',
    '15.04': '2016-02-04',
    '15.10': '2016-07-28',
    '16.04': '2021-04-30',
    '16.10': '2017-07-20',
    '17.04': '2018-01-13',
    '17.10': '2018-07-19',
    '18.04': '2023-05-31',
    '18.10': '2019-07-18',
    '19.04': '2020-01-23',
    '19.10': '2020-07-17',
    '20.04': '2025-05-29',
    '20.10': '2021-07-22',
    '21.04': '2022-01-20',
    '21.10': '2022-07-14',
    '22.04': '2027-06-01',
    '22.10': '2023-07-20',
    '23.04': '2024-01-25',
    '23.10': '2024-07-11',
    '24.04': '2029-05-31',
    '24.10': '2025-07-10',
    '25.04': '2026-01-15',
    '25.10': '2026-07-09',
    '26.04': '2031-05-29',
    '26.10': '2027-07-15',
  },
}
