import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig, VARIABLES } from '../../platform/config.ts'
import { parseEnvironmentFile } from '../../serve/installed.ts'

const DEBIAN = join(import.meta.dirname, '../../packaging/debian')
const file = readFileSync(join(DEBIAN, 'ops-panel.env'), 'utf8')
const unit = readFileSync(join(DEBIAN, 'ops-panel.service'), 'utf8')

test('the shipped file sets no variable', () => {
  expect(parseEnvironmentFile(file)).toEqual({})
})

test('the file contains every variable of the service, and no other', () => {
  const variables = parseEnvironmentFile(file.replaceAll(/^#(?=PANEL_)/gm, ''))

  expect(Object.keys(variables).sort()).toEqual([...VARIABLES].sort())
})

test('the values in the file are the defaults of the installed service', () => {
  const { isTrustedProxy: _, ...shown } = readConfig(parseEnvironmentFile(file.replaceAll(/^#(?=PANEL_)/gm, '')))
  const [, folder = ''] = /^Environment=PANEL_DATA_DIR=(.*)$/m.exec(unit) ?? []
  const { isTrustedProxy: __, ...defaults } = readConfig({ PANEL_DATA_DIR: folder })

  expect(shown).toEqual(defaults)
})
