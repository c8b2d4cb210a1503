import { expect, test } from 'vitest'
import * as z from 'zod'
import { readSettings } from '../../../db/settings.ts'
import type { SettingValues } from '../../../functions/services.ts'
import settingsOf from '../../../functions/settings/settings.get.ts'
import change from '../../../functions/settings/settings.patch.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'
import { answering, typeCommand } from '../console.ts'

const PATH = '/api/settings'
const [URL_A, URL_B] = ['https://forge.test/git', 'https://other.test']
const FINGERPRINT = Array(32).fill('AA').join(':')
const FORGE = { forge_url: URL_A, forge_org: 'modules', forge_token: 'token-of-a' }
const ENVIRONMENT = {
  PANEL_FORGE_URL: 'https://env.test',
  PANEL_FORGE_ORG: 'of-env',
  PANEL_FORGE_TOKEN: 'token-of-env',
}

async function start(env: Record<string, string> = {}) {
  const app = await testApp([settingsOf, change], { env })
  const { settings, config } = app.services
  return {
    ...app,
    patch: (body: SettingValues) => app.request('PATCH', PATH, { as: 'admin', body }),
    shown: async () =>
      z
        .looseObject({ forge_token_set: z.boolean() })
        .parse(await answered(await app.request('GET', PATH, { as: 'admin' }), 200)),
    inUse: () => settings.forge(config.forge),
  }
}

test('the settings of the forge are stored, take effect at once, and never show the token', async () => {
  const app = await start()

  await answered(await app.patch(FORGE), 200)

  expect(await app.inUse()).toEqual({ url: URL_A, org: 'modules', token: 'token-of-a', fingerprint: '' })
  const shown = await app.shown()
  expect(shown).toMatchObject({ forge_url: URL_A, forge_org: 'modules', forge_token_set: true, forge_fingerprint: '' })
  const entries = await audited(app.db)
  expect(entries.map(({ action }) => action)).toEqual(['settings_changed'])
  expect(JSON.stringify([shown, entries, [...(await readSettings(app.db))]])).not.toContain('token-of-a')
})

test('an empty token means no change, also with another path of the same site', async () => {
  const app = await start()
  await answered(await app.patch(FORGE), 200)

  await answered(await app.patch({ forge_url: 'https://forge.test', forge_token: '' }), 200)

  expect(await app.inUse()).toMatchObject({ url: 'https://forge.test', token: 'token-of-a' })
})

test.each([
  ['another site', { forge_url: URL_B }],
  ['another port', { forge_url: 'https://forge.test:8443/git' }],
  ['no encryption', { forge_url: 'http://forge.test/git' }],
  ['no address', { forge_url: '' }],
])('%s forgets the stored token, which does not come back', async (_, other) => {
  const app = await start()
  await answered(await app.patch(FORGE), 200)

  await answered(await app.patch(other), 200)

  expect((await app.inUse())?.token).toBeUndefined()
  expect((await app.shown()).forge_token_set).toBe(false)
  await answered(await app.patch({ forge_url: URL_A }), 200)
  expect(await app.inUse()).toEqual({ url: URL_A, org: 'modules', token: undefined, fingerprint: '' })
})

test('a token that is stored while another change moves the address stays with its own site', async () => {
  const app = await start()
  await answered(await app.patch(FORGE), 200)

  // As if the change of the address had been written between the reading and the writing of the other one.
  await app.services.settings.change({ forge_url: URL_B })

  expect(await app.inUse()).toMatchObject({ url: URL_B, token: undefined })
})

test('a token without an address is refused, at the console too', async () => {
  const app = await start()

  await refused(await app.patch({ forge_org: 'modules', forge_token: 'x' }), 409, 'forge_url_required')
  const typed = typeCommand(
    { ...app.services, secrets: app.secrets },
    ['settings', 'set', 'forge_token'],
    answering('x'),
  )

  await expect(typed).rejects.toThrow('forge_url')
  expect([...(await readSettings(app.db)).keys()].filter((key) => key.startsWith('forge'))).toEqual([])
})

test('the console sets a forge, and forgets its token with another address', async () => {
  const app = await start()
  const type = (words: string[], ...answers: string[]) =>
    typeCommand({ ...app.services, secrets: app.secrets }, ['settings', 'set', ...words], answering(...answers))
  await type(['forge_url', URL_A])
  await type(['forge_org', 'modules'])
  await type(['forge_token'], 'token-of-a')
  expect(await app.inUse()).toEqual({ url: URL_A, org: 'modules', token: 'token-of-a', fingerprint: '' })

  await type(['forge_url', URL_B])

  expect(await app.inUse()).toEqual({ url: URL_B, org: 'modules', token: undefined, fingerprint: '' })
})

test('the environment fills what is not stored, and keeps its token for its own site', async () => {
  const app = await start(ENVIRONMENT)
  const of = { url: 'https://env.test', org: 'of-env', token: 'token-of-env', fingerprint: '' }
  expect(await app.inUse()).toEqual(of)
  expect(await app.shown()).toMatchObject({
    forge_url: '',
    forge_environment: { url: of.url, org: of.org, token_set: true },
  })

  await answered(await app.patch({ forge_token: 'stored' }), 200)
  expect(await app.inUse()).toEqual({ ...of, token: 'stored' })
  await answered(await app.patch({ forge_url: 'https://env.test/git', forge_org: 'modules' }), 200)
  expect(await app.inUse()).toEqual({ ...of, url: 'https://env.test/git', org: 'modules', token: 'stored' })

  await answered(await app.patch({ forge_url: URL_B }), 200)
  expect(await app.inUse()).toEqual({ url: URL_B, org: 'modules', token: undefined, fingerprint: '' })
  await answered(await app.patch({ forge_org: '' }), 200)
  expect(await app.inUse()).toBeUndefined()
  expect(JSON.stringify(await app.shown())).not.toContain('token-of-env')
})

test.each([
  ['the stored token', {}, FORGE],
  ['the token of the environment', ENVIRONMENT, {}],
])('another certificate for %s needs a proof', async (_, env, stored) => {
  const app = await start(env)
  await answered(await app.patch(stored), 200)

  await refused(await app.patch({ forge_fingerprint: FINGERPRINT }), 403, 'proof_required')

  await answered(await app.patch({ ...FORGE, forge_fingerprint: FINGERPRINT, forge_token: 'anew' }), 200)
  expect(await app.inUse()).toMatchObject({ fingerprint: FINGERPRINT, token: 'anew' })
})

test('a certificate that was accepted for another site needs a proof for that of the environment', async () => {
  const app = await start(ENVIRONMENT)
  await answered(await app.patch({ forge_url: URL_B, forge_fingerprint: FINGERPRINT }), 200)

  await refused(await app.patch({ forge_url: '' }), 403, 'proof_required')

  expect(await app.inUse()).not.toMatchObject({ token: 'token-of-env' })
  await answered(await app.patch({ forge_fingerprint: '' }), 200)
  await answered(await app.patch({ forge_url: '' }), 200)
  expect(await app.inUse()).toMatchObject({ token: 'token-of-env', fingerprint: '' })
})

test.each([
  ['forge_url', 'forge.test'],
  ['forge_url', 'ftp://forge.test'],
  ['forge_url', 'https://bob:secret@forge.test'],
  ['forge_org', 'a/b'],
  ['forge_token', 'to ken'],
  ['forge_fingerprint', 'AA:BB'],
  ['forge_token_origin', URL_B],
])('%s refuses %s', async (name, value) => {
  const app = await start()

  await refused(await app.patch({ [name]: value }), 400, 'invalid_request')
})
