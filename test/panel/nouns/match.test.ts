import { array, assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { match, pieces } from '../../../panel/nouns/match.ts'

/** Returns the text with the matched parts in brackets. */
function shown(search: string, text: string): string | undefined {
  const found = match(search, text)
  return (
    found &&
    pieces(text, found.ranges)
      .map((each) => (each.marked ? `[${each.text}]` : each.text))
      .join('')
  )
}

function best(search: string, ...texts: string[]): string | undefined {
  return texts
    .flatMap((text) => {
      const found = match(search, text)
      return found ? [{ text, score: found.score }] : []
    })
    .sort((one, other) => other.score - one.score)[0]?.text
}

test('accents and capitals do not matter, on either side', () => {
  expect(shown('demarrer', 'Démarrer web-01')).toBe('[Démarrer] web-01')
  expect(shown('RÉG', 'Reglages')).toBe('[Reg]lages')
  expect(shown('straße', 'STRASSE')).toBeUndefined()
})

test('every word must match, in any order', () => {
  expect(shown('web dem', 'Démarrer web-01')).toBe('[Dém]arrer [web]-01')
  expect(shown('web stop', 'Démarrer web-01')).toBeUndefined()
  expect(shown('  ', 'Démarrer')).toBe('Démarrer')
})

test('letters in order match when the first one starts a word and they are close together', () => {
  expect(shown('maj', 'Mettre à jour web-01')).toBe('[M]ettre [à] [j]our web-01')
  expect(shown('cntnr', 'Conteneurs')).toBe('[C]o[nt]e[n]eu[r]s')
  expect(shown('ctn', 'Conteneur de titi')).toBe('[C]on[t]e[n]eur de titi')
  expect(shown('mttelur', 'Mettre à jour le conteneur du serveur')).toBeDefined()
  expect(shown('mouevre', 'Mettre à jour le conteneur du serveur')).toBeUndefined()
  expect(shown('ettj', 'Mettre à jour')).toBeUndefined()
})

test('the start of a word ranks above its middle, and a whole word above a part', () => {
  expect(best('mod', 'Accommoder', 'Modules')).toBe('Modules')
  expect(best('web-0', 'Terminal de web-01', 'Terminal de web-0')).toBe('Terminal de web-0')
  expect(best('maj', 'Mettre à jour', 'Projet majeur')).toBe('Projet majeur')
})

test('the best match in a text is marked', () => {
  expect(shown('er', 'Serveur er')).toBe('Serveur [er]')
})

test('a text matches itself, and its pieces join to the text', () => {
  assert(
    property(array(string()), string(), (words, text) => {
      const search = words.join(' ')
      const found = match(search, text)
      const whole = pieces(text, found?.ranges ?? [])
      expect(whole.map((each) => each.text).join('')).toBe(text)
      expect(match(text, text)).toBeDefined()
    }),
  )
})
