import { expect, test } from 'vitest'
import { newTotp, stepOf } from '../../../functions/factors/totp.ts'
import { codeOf } from './person.ts'

/** The secret of RFC 6238, appendix B, in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const)('the code at %i is that of RFC 6238', async (seconds, eightDigits) => {
  const step = Math.floor(seconds / 30)

  expect(await stepOf({ secret: SECRET, code: eightDigits.slice(2) }, new Date(seconds * 1000))).toBe(step)
  // The computation of the tests agrees with the RFC, too.
  expect(codeOf(SECRET, step, 8)).toBe(eightDigits)
})

test.each([
  ['a first moment of a step', 0],
  ['a last moment of a step', 29_999],
] as const)('in %s exactly the neighbours of the step are accepted', async (_, late) => {
  const step = 59_000_000
  const now = new Date(step * 30_000 + late)

  const accepted = await Promise.all(
    [-2, -1, 0, 1, 2].map((away) => stepOf({ secret: SECRET, code: codeOf(SECRET, step + away) }, now)),
  )

  expect(accepted).toEqual([undefined, step - 1, step, step + 1, undefined])
})

test.each(['', '28708', '2870822', 'abcdef', '٢٨٧٠٨٢', '-87082', '2.7082', '287082\0'])(
  'the text %j is no code',
  async (code) => {
    expect(await stepOf({ secret: SECRET, code }, new Date(59_000))).toBeUndefined()
  },
)

test('spaces in a code do not count', async () => {
  expect(await stepOf({ secret: SECRET, code: ' 287 082 ' }, new Date(59_000))).toBe(1)
})

test('each secret has 160 bits and is another one; its address is that of every authenticator', async () => {
  const [first, second] = [await newTotp('alice@panel.example'), await newTotp('alice@panel.example')]

  expect(first.secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(first.secret).not.toBe(second.secret)
  const uri = new URL(first.uri)
  expect(uri.protocol).toBe('otpauth:')
  expect(decodeURIComponent(uri.pathname)).toBe('/ops-panel:alice@panel.example')
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret: first.secret, issuer: 'ops-panel' })
})
