import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { coloursIn, contrast, weakIn } from './contrast.ts'

const TOKENS = readFileSync('panel/style/tokens.css', 'utf8')

test.each(['light', 'dark'] as const)('every text and control of the %s theme has enough contrast', (theme) => {
  expect(weakIn(coloursIn(TOKENS)[theme])).toEqual([])
})

test('the check finds a weak or missing colour', () => {
  const weak = coloursIn(TOKENS.replace('--dim: light-dark(#525d6b', '--dim: light-dark(#9aa5b1')).light
  expect(weakIn(weak)).toContain('dim on surface: 2.50 of 4.5')
  expect(weakIn(new Map([...coloursIn(TOKENS).dark].filter(([name]) => name !== 'ok')))).toContain(
    'ok or bg is no colour',
  )
})

test('the contrast ratio is the one of WCAG', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})
