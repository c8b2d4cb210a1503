import { expect, test } from 'vitest'
import { writeSettings } from '../../../db/settings.ts'
import settings from '../../../functions/settings/settings.get.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, refused, sealWithAnotherKey } from '../answers.ts'

const PATH = '/api/settings'

test('an administrator sees the settings, and of each secret only whether it is set', async () => {
  const app = await testApp([settings])
  const shown = {
    hypervisor_url: 'https://pve.test:8006',
    hypervisor_fingerprint: 'AB',
    forge_url: 'https://forge.test/git',
    forge_org: 'modules',
    forge_fingerprint: 'CD',
    checks_automatic: 'off',
    checks_parallel: '16',
    dashboard_shortcuts: '[{"label":"a","href":"/a"}]',
    ssh_host_key: 'ssh-ed25519 SHA256:x',
  }
  const hypervisor_token = app.secrets.seal('hypervisor_token', 'panel@pve!t=secret')
  const forge_token = app.secrets.seal('forge_token', 'secret-of-the-forge')
  await writeSettings(app.db, { ...shown, hypervisor_token, forge_token }, START.toISOString())

  const response = await app.request('GET', PATH, { as: 'admin' })

  const text = await response.clone().text()
  expect(await answered(response, 200)).toEqual({
    ...shown,
    ssh_host: 'pve.test',
    ssh_username: 'panel',
    ssh_password_set: true,
    ssh_key_set: false,
    ssh_public_key: '',
    ssh_authorized_key: '',
    ssh_key_next_set: false,
    ssh_next_authorized_key: '',
    ssh_key_retired: '',
    hypervisor_token_set: true,
    forge_token_set: true,
    forge_environment: null,
  })
  expect(text).not.toContain('service-password')
  expect(text).not.toContain('v1.')
  expect(await audited(app.db)).toEqual([])
  expect(app.ran).toEqual([])
})

test('initially all settings are empty, the shortcuts are an empty list, and six targets are checked at a time', async () => {
  const app = await testApp([settings], { ssh: { host: '' } })

  expect(await answered(await app.request('GET', PATH, { as: 'admin' }), 200)).toEqual({
    ssh_host: '',
    ssh_username: '',
    ssh_password_set: false,
    ssh_key_set: false,
    ssh_public_key: '',
    ssh_authorized_key: '',
    ssh_key_next_set: false,
    ssh_next_authorized_key: '',
    ssh_key_retired: '',
    ssh_host_key: '',
    hypervisor_url: '',
    hypervisor_token_set: false,
    hypervisor_fingerprint: '',
    forge_url: '',
    forge_org: '',
    forge_token_set: false,
    forge_fingerprint: '',
    forge_environment: null,
    checks_automatic: 'on',
    checks_parallel: '6',
    dashboard_shortcuts: '[]',
  })
})

test('a password that another key has sealed counts as set, though it is unreadable', async () => {
  const app = await testApp([settings])
  await sealWithAnotherKey(app.db)

  const shown = await answered(await app.request('GET', PATH, { as: 'admin' }), 200)

  expect(shown).toMatchObject({ ssh_password_set: true })
})

test('only administrators have access', async () => {
  const app = await testApp([settings])

  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  await refused(await app.request('GET', PATH, { as: 'user' }), 403, 'forbidden')
})

test('a storage failure gives 500', async () => {
  const app = await testApp([settings])
  await app.db.script('ALTER TABLE settings RENAME TO gone')

  await refused(await app.request('GET', PATH, { as: 'admin' }), 500, 'storage_failed')
})
