import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ClientCode } from '../../../client/operation.ts'
import { ERRORS } from '../../../functions/services.ts'
import { en as first, later } from '../../../panel/words/en.ts'
import { access } from '../../../panel/words/fr/access.ts'
import { applications } from '../../../panel/words/fr/applications.ts'
import { audit } from '../../../panel/words/fr/audit.ts'
import { forge } from '../../../panel/words/fr/forge.ts'
import { laterErrors } from '../../../panel/words/fr/later-errors.ts'
import { logs } from '../../../panel/words/fr/logs.ts'
import { module } from '../../../panel/words/fr/module.ts'
import { notifications } from '../../../panel/words/fr/notifications.ts'
import { protection } from '../../../panel/words/fr/protection.ts'
import { registry } from '../../../panel/words/fr/registry.ts'
import { schedules } from '../../../panel/words/fr/schedules.ts'
import { serviceKey } from '../../../panel/words/fr/service-key.ts'
import { setup } from '../../../panel/words/fr/setup.ts'
import { terminal } from '../../../panel/words/fr/terminal.ts'
import { fr as french } from '../../../panel/words/fr.ts'
import { literalsIn } from './literals.ts'

/** All words, with those that load later. */
const fr = {
  ...french,
  later: {
    access,
    applications,
    audit,
    forge,
    laterErrors,
    logs,
    module,
    notifications,
    protection,
    registry,
    schedules,
    serviceKey,
    setup,
    terminal,
  },
}
const en = { ...first, later }

/** The path of every text, such as `updates.title`; a text may be a function. */
function ways(value: unknown, way = ''): string[] {
  if (typeof value !== 'object' || value === null) return [way]
  return Object.entries(value).flatMap(([name, each]) => ways(each, way ? `${way}.${name}` : name))
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}

test('French and English have the same keys', () => {
  expect(ways(en).sort()).toEqual(ways(fr).sort())
  expect(ways(fr).length).toBeGreaterThan(300)
})

test('the check finds a key missing in one language', () => {
  expect(ways({ a: { b: 'x' } })).not.toEqual(ways({ a: { b: 'x', c: 'y' } }))
})

test('French texts use no-break spaces before punctuation and typographic apostrophes', () => {
  const wrong = texts(fr).filter((text) => /[ \u00a0][;?!]| [:»]|« |\w'\w/.test(text))

  expect(wrong).toEqual([])
  expect('Vraiment ?').toMatch(/[ \u00a0][;?!]| [:»]|« |\w'\w/)
})

/** The error codes of the client itself. */
const OF_CLIENT: Readonly<Record<ClientCode, true>> = { network_failed: true, unexpected_answer: true }
const CODES = [...Object.keys(ERRORS), ...Object.keys(OF_CLIENT)]
const untold = (codes: readonly string[], errors: object) =>
  codes.filter((code) => !texts({ [code]: Reflect.get(errors, code) }).some((text) => text.trim() !== ''))

test.each([
  ['French', { ...fr.errors, ...fr.later.laterErrors }],
  ['English', { ...en.errors, ...en.later.laterErrors }],
])('every error code of the service and the client has a sentence in %s', (_, errors) => {
  expect(CODES.length).toBeGreaterThan(50)
  expect(untold(CODES, errors)).toEqual([])
})

test('the check finds a code without a sentence', () => {
  const errors = { ...fr.errors, ...fr.later.laterErrors, network_failed: ' ' }

  expect(untold([...CODES, 'planted'], errors)).toEqual(['network_failed', 'planted'])
})

test('components contain no UI text', () => {
  const paths = globSync('panel/**/*.tsx')

  expect(paths.length).toBeGreaterThan(30)
  expect(paths.flatMap((path) => literalsIn(path, readFileSync(path, 'utf8')))).toEqual([])
})

test('the check finds UI text in a component, and nothing else', () => {
  const source = `const a = <p title="Bonjour" class="dim">Salut <b>{1}</b> · {x ? 'code' : y}<i aria-label={z ? 'Oui' : w} /></p>`

  expect(literalsIn('a.tsx', source)).toEqual(['a.tsx: Bonjour', 'a.tsx: Salut', 'a.tsx: Oui'])
})
