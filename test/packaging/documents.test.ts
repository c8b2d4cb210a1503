import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { debianChangelog } from '../../packaging/changelog.ts'
import { copyright } from '../../packaging/copyright.ts'
import { manualPage } from '../../packaging/manual-page.ts'
import { temporaryFolder } from '../db/folder.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5) / 1000
const WHO = 'Ann <ann@panel.example>'

test('in the changelog the newest section has the version and time of the build, and older ones their own days', () => {
  const markdown = `# Changelog

## 0.2.0 (unreleased)

- One point.
- Another one, which is so long that it takes two lines here, and three of the eighty characters
  that Debian allows each line of it.

## 0.1.0 (2025-12-24)

- The first.
`
  expect(
    debianChangelog(markdown, { version: '0.2.1', seconds: AT, maintainer: WHO }),
  ).toBe(`ops-panel (0.2.1) unstable; urgency=medium

  * One point.
  * Another one, which is so long that it takes two lines here, and three of the
    eighty characters that Debian allows each line of it.

 -- ${WHO}  Fri, 02 Jan 2026 03:04:05 +0000

ops-panel (0.1.0) unstable; urgency=medium

  * The first.

 -- ${WHO}  Wed, 24 Dec 2025 00:00:00 +0000
`)
})

test('an older section without a day is dated before the newest one', () => {
  const markdown = '## 0.2.0 (unreleased)\n\n- New.\n\n## 0.1.0 (unreleased)\n\n- Old.\n'
  const dates = debianChangelog(markdown, { version: '0.2.0', seconds: AT, maintainer: WHO }).match(/\d\d:\d\d:\d\d/g)

  expect(dates).toEqual(['03:04:05', '03:04:04'])
})

test('the manual page has the title and the lines of the help, with troff’s special characters escaped', () => {
  const page = manualPage("ops-panel 1.0 — panneau d’un hôte\n\nUsage : x [--help]\n  .fi it's \\n\n", '1.0', AT)

  expect(page).toContain('.TH OPS-PANEL 1 2026-01-02 "ops-panel 1.0"')
  expect(page).toContain('ops-panel \\- panneau d\\(cqun hôte\n')
  expect(page).toContain('\n\\&Usage : x [\\-\\-help]\n\\&  .fi it\\(aqs \\en\n.fi\n')
})

test('the copyright file has the licences of the project and all packages, except those in Debian', async () => {
  const root = await temporaryFolder()
  const add = (name: string, about: object, files: Record<string, string> = {}) => {
    mkdirSync(join(root, name))
    writeFileSync(join(root, name, 'package.json'), JSON.stringify({ name, version: '1.2.3', ...about }))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(root, name, file), text)
  }
  const apache = '  Apache License\n  Version 2.0, January 2004\n  1. Definitions.\n  END OF TERMS AND CONDITIONS'
  add('a', { license: 'Apache-2.0', author: { name: 'Ann' } }, { LICENSE: apache, 'NOTICE.md': 'Made by Ann.\r\n' })
  add('b', {}, { 'license.txt': 'Do what you like.', 'b.js.LICENSE.txt': 'Of e.', 'b.min.js.LICENSE.txt': 'Of e.' })
  add('c', { license: 'MIT', repository: { url: 'https://forge.example/c' } }, { 'README.md': 'Licence: none' })
  add('d', {})
  add('e', {}, { LICENSE: apache.replace('License\n', 'License\n\n') })
  writeFileSync(join(root, 'LICENSE'), 'MIT License\n\nCopyright of the project\n')

  const text = copyright(root, ['a', 'b', 'c', 'e'])

  expect(text).toMatch(/^ops-panel, and what .*\n\nMIT License\n\nCopyright of the project\n\nInside the executable /)
  expect(text).toContain('a 1.2.3\nLicence: Apache-2.0\nAuthor: Ann\n\nApache License, Version 2.0: see /usr/share/')
  expect(text).toContain('Made by Ann.\n')
  expect(text).not.toContain('Definitions')
  expect(text).toContain('b 1.2.3\nLicence: see below\n\n')
  expect(text).toContain('\n\nDo what you like.\n')
  expect(text.match(/Of e\./g)).toHaveLength(1)
  expect(text).toContain('c 1.2.3\nLicence: MIT\nSource: https://forge.example/c\n')
  expect(text).not.toContain('Licence: none')
  expect(() => copyright(root, ['d'])).toThrow('nothing of its licence')
})
