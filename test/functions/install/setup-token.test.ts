import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createSetupToken } from '../../../functions/install/setup-token.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { startLibsqlServer } from '../../libsql-server.ts'
import { startProgram } from '../../serve/program.ts'

async function place() {
  const folder = await temporaryFolder()
  return { folder, file: join(folder, 'setup-token'), token: createSetupToken(folder) }
}

test('the token is in the data folder, accessible to the owner only', async () => {
  const { file, token } = await place()

  const made = await token.make()

  expect(made).toMatch(/^[\w-]{24}$/)
  expect(await readFile(file, 'utf8')).toBe(`${made}\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await token.matches(made)).toBe(true)
})

test('the token stays the same, also after a restart, until it is removed', async () => {
  const { folder, token } = await place()
  const made = await token.make()

  expect(await token.make()).toBe(made)
  const restarted = createSetupToken(folder)
  expect(await restarted.make()).toBe(made)
  await restarted.remove()

  expect(await token.matches(made)).toBe(false)
  expect(await token.make()).not.toBe(made)
  expect(await token.matches(made)).toBe(false)
})

test('two services have different tokens', async () => {
  const [one, two] = [await place(), await place()]

  expect(await two.token.matches(await one.token.make())).toBe(false)
  expect(await two.token.make()).not.toBe(await one.token.make())
})

test.each([
  ['nothing', () => ''],
  ['a part', (made: string) => made.slice(0, -1)],
  ['more', (made: string) => `${made}x`],
  ['a line end', (made: string) => `${made}\n`],
  ['another of that length', (made: string) => 'x'.repeat(made.length)],
  ['as many letters, but more bytes', (made: string) => 'é'.repeat(made.length)],
  ['something very long', () => 'x'.repeat(1_000_000)],
])('%s does not match, and does not throw', async (_, other) => {
  const { token } = await place()

  expect(await token.matches(other(await token.make()))).toBe(false)
})

test.each([
  ['no file', undefined],
  ['an empty file', ''],
  ['a file of blanks', ' \n'],
])('%s matches nothing, not even an empty token', async (_, content) => {
  const { file, token } = await place()
  if (content !== undefined) await writeFile(file, content)

  for (const given of ['', ' ', '\n', 'x']) expect(await token.matches(given)).toBe(false)
})

test('an empty file, as a full disk leaves it, is replaced', async () => {
  const { file, token } = await place()
  await writeFile(file, '', { mode: 0o600 })

  const made = await token.make()

  expect(made).toHaveLength(24)
  expect(await token.matches(made)).toBe(true)
})

test('removing a missing token succeeds', async () => {
  const { token } = await place()

  await token.remove()
  await token.remove()

  expect(await token.matches('')).toBe(false)
})

test('instances of one libSQL server share one token, and store it in no folder', async () => {
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const shared = {
    PANEL_DATABASE_URL: server.url,
    PANEL_SECRET_KEY: randomBytes(32).toString('base64'),
    PANEL_PORT: '0',
  }
  const announced: (string | undefined)[] = []
  for (const folder of [await temporaryFolder(), await temporaryFolder()]) {
    const program = startProgram({ ...shared, PANEL_DATA_DIR: folder, PANEL_JWT_KEY: inject('signingKey').pem })
    await program.said('jeton d’installation')
    announced.push(/jeton d’installation : ([\w-]{24}) /.exec(program.stdout())?.[1])
    expect(await readdir(folder)).not.toContain('setup-token')
  }

  expect(announced[0]).toMatch(/^[\w-]{24}$/)
  expect(announced[1]).toBe(announced[0])
})

test.each([
  ['on', (url: string, token: string) => `Adresse : ${url}/setup#token=${token} — jeton d’installation : ${token} `],
  ['off', (url: string, token: string) => `Adresse : ${url} — jeton d’installation : ${token} `],
])(
  'with PANEL_UI=%s the console prints the address to open',
  async (PANEL_UI, expected) => {
    const folder = await temporaryFolder()
    const program = startProgram({ PANEL_DATA_DIR: folder, PANEL_PORT: '0', PANEL_UI })

    await program.said('jeton d’installation')

    const [, url = ''] = /"url":"([^"]+)"/.exec(program.stdout()) ?? []
    const token = (await readFile(join(folder, 'setup-token'), 'utf8')).trim()
    expect(program.stdout()).toContain(expected(url, token))
  },
  60_000,
)
