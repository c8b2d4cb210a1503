import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compareApkVersions } from '../../../functions/vulnerabilities/apk-version.ts'

const CASES = readFileSync(new URL('apk-versions.data', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '))

test.each(CASES)('%s %s %s', (a = '', sign = '', b = '') => {
  const signOf = (order: number | undefined) => (order === undefined ? '?' : order < 0 ? '<' : order > 0 ? '>' : '=')

  expect(signOf(compareApkVersions(a, b))).toBe(sign)
  expect(signOf(compareApkVersions(b, a))).toBe({ '<': '>', '>': '<' }[sign] ?? sign)
})

test('long and hostile versions take no time', () => {
  const digits = '9'.repeat(1_000)
  const began = performance.now()

  expect(compareApkVersions(`1.${digits}8`, `1.${digits}9`)).toBeLessThan(0)
  expect(compareApkVersions(`${'1.'.repeat(400)}1`, `${'1.'.repeat(400)}2`)).toBeLessThan(0)
  expect(compareApkVersions(`1${'_p'.repeat(500)}x`, '1')).toBeUndefined()
  expect(compareApkVersions('1'.repeat(100_000), '1')).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(1_000)
})
