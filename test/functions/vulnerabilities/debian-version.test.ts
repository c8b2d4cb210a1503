import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { compareDebianVersions } from '../../../functions/vulnerabilities/debian-version.ts'

const hasDpkg = spawnSync('dpkg', ['--version']).status === 0

const VERSIONS = [
  '0',
  '0~',
  '0:1.0',
  '1',
  '1.0',
  '1.0-0',
  '1.0-1',
  '1.0-1+b1',
  '1.0-1+b10',
  '1.0-1+b2',
  '1.0-1~bpo12+1',
  '1.0-1.1',
  '1.0-01',
  '1.0~',
  '1.0~~',
  '1.0~~a',
  '1.0~a',
  '1.0~rc1-1',
  '1.0+dfsg-1',
  '1.0.0',
  '1.0a',
  '1.0a-1',
  '1.00',
  '1.10',
  '1.9',
  '1-1-1',
  '1-1.0-1',
  '1:0.1',
  '2:0~0',
  '10:0.1',
  '1.0-1+deb12u1',
  '1.0-1+deb12u10',
  '1.0-1+deb12u9',
  '5.10.0-0~',
  '20240101',
  '20240101000000000000000000000001',
  '20240101000000000000000000000002',
  '1.A',
  '1.a',
  '1.+',
  '1..',
  '1.-1',
  '1.0+',
  '1.0+~',
]

test.skipIf(!hasDpkg)('versions are in the order of dpkg itself', () => {
  const sorted = [...VERSIONS].sort(compareDebianVersions)
  // Neighbours decide the whole order, because dpkg's is transitive.
  const loop =
    'for b; do [ -z "$a" ] || if dpkg --compare-versions "$a" lt "$b"; then echo -1; else echo "$a and $b"; fi; a=$b; done'
  const equal = 'for b; do [ -z "$a" ] || dpkg --compare-versions "$a" eq "$b" && echo same || echo other; a=$b; done'
  const run = (script: string) =>
    execFileSync('sh', ['-c', script, 'sh', ...sorted], { encoding: 'utf8' })
      .trim()
      .split('\n')
  const same = run(equal).slice(1)

  const signs = run(loop).map((line, at) => (same[at] === 'same' ? 0 : Number(line)))

  const ranks = new Map<string, number>()
  for (const [at, version] of sorted.entries())
    ranks.set(version, (ranks.get(sorted[at - 1] ?? '') ?? 0) - (signs[at - 1] ?? 0))
  expect(signs).toHaveLength(VERSIONS.length - 1)
  for (const a of VERSIONS)
    for (const b of VERSIONS)
      expect(Math.sign(compareDebianVersions(a, b)), `${a} and ${b}`).toBe(
        Math.sign((ranks.get(a) ?? Number.NaN) - (ranks.get(b) ?? Number.NaN)),
      )
})

test('hostile versions take little time', () => {
  const long = '0'.repeat(1_000_000)
  const mixed = '1a'.repeat(500_000)
  const began = performance.now()

  expect(compareDebianVersions(long, `${long}1`)).toBe(0)
  expect(compareDebianVersions(mixed, `${mixed}-`)).toBe(0)
  expect(compareDebianVersions(':'.repeat(100_000), '-'.repeat(100_000))).not.toBeNaN()
  expect(compareDebianVersions('', '')).toBe(0)

  expect(performance.now() - began).toBeLessThan(200)
})
