import { expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../../db/storage.ts'
import { createSettings, type SettingValues } from '../../../functions/services.ts'
import { readConfig } from '../../../platform/config.ts'
import { createLog } from '../../../platform/log.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { freePort } from '../../free-port.ts'
import { typeCommand } from '../console.ts'
import { lacks, startGitea } from '../forge/gitea.ts'

const TOKEN = 'geheim-4711'

/** The lines of doctor about the forge of these settings and variables. No secret may be in its text or its log. */
async function doctor(stored: SettingValues, env: Record<string, string> = {}) {
  const clock = () => new Date()
  const config = readConfig({ PANEL_DATA_DIR: await temporaryFolder(), ...env })
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const { db, secrets } = await openStorage(config, clock)
  onTestFinished(() => db.close())
  await createSettings({ db, secrets, clock, log }).change(stored)
  const { text, ok } = await typeCommand({ db, secrets, config, clock, log }, ['doctor'])
  expect(text + lines().join('\n')).not.toContain(TOKEN)
  expect(ok).toBe(false) // There is no host.
  return text.split('\n').filter((line) => /forge|gitea|jeton|organisation|dépôts|module\.json|localhost/i.test(line))
}

const at = (forge_url: string, more: SettingValues = {}): SettingValues => ({
  ...{ forge_url, forge_org: 'modules', forge_token: TOKEN, forge_token_origin: forge_url, ...more },
})

test('without a forge doctor says nothing of one', async () => {
  expect(await doctor({})).toEqual([])
})

test('a forge of the settings has the lines of its test', async () => {
  const { url, fingerprint, requests } = await startGitea({ secure: true })

  expect(await doctor(at(url, { forge_fingerprint: fingerprint }))).toEqual([
    `✓ ${url} répond.`,
    '✓ Le certificat de la forge est celui qui a été accepté.',
    '✓ C’est Gitea 1.26.0.',
    '✓ La forge reconnaît le jeton de panel.',
    '✓ L’organisation « modules » existe.',
    '✓ Elle a 12 dépôts.',
    '✓ module.json de « hello » se lit.',
  ])
  expect(requests.at(-1)?.authorization).toBe(`token ${TOKEN}`)
})

test('a forge of the environment is checked too, and a scope that its token lacks is named', async () => {
  const { url } = await startGitea({ answers: { '/api/v1/orgs/modules': lacks('read:organization') } })

  const env = { PANEL_FORGE_URL: url, PANEL_FORGE_ORG: 'modules', PANEL_FORGE_TOKEN: TOKEN }

  expect((await doctor({}, env)).filter((line) => line.startsWith('✗'))).toEqual([
    '✗ Il manque au jeton la permission read:organization.',
  ])
})

test('a forge that does not answer, and a certificate that nobody vouches for, are wrong; the latter is named', async () => {
  const { url, fingerprint } = await startGitea({ secure: true })
  const nowhere = `http://localhost:${await freePort()}`

  const [there, certificate] = await doctor(at(url))

  expect([there, certificate]).toEqual([
    `✓ ${url} répond.`,
    expect.stringMatching(new RegExp(`^✗ Le certificat de la forge .*: ${fingerprint}\\.$`)),
  ])
  expect(await doctor(at(nowhere))).toEqual([
    expect.stringMatching(/^✗ La forge ne peut pas être lue : aucune réponse de http:\/\/localhost/),
  ])
})
