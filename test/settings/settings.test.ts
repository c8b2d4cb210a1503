import { expect, test } from 'vitest'
import type { SettingKey } from '../../functions/services.ts'
import { FIRST, KEY, place } from './place.ts'

test('the first settings are stored, shown without secrets, and announced once', async () => {
  const { settings, announced, lines } = await place()

  expect(await settings.install({ ...FIRST, hypervisor_token: 'token' })).toBe(true)

  expect(await settings.sshAccount()).toEqual({
    address: 'pve',
    host: 'pve',
    port: 22,
    hostKey: KEY,
    username: 'panel',
    password: 'secret',
  })
  expect(await settings.show()).toEqual({
    ssh_host: 'pve',
    ssh_username: 'panel',
    ssh_password_set: true,
    ssh_key_set: false,
    ssh_key_next_set: false,
    ssh_key_retired: '',
    ssh_host_key: KEY,
    hypervisor_url: '',
    hypervisor_token_set: true,
    hypervisor_fingerprint: '',
    forge_url: '',
    forge_org: '',
    forge_token_set: false,
    forge_token_origin: '',
    forge_fingerprint: '',
    checks_automatic: 'on',
    checks_parallel: '6',
    dashboard_shortcuts: '[]',
  })
  expect(announced).toEqual([['hypervisor_token', ...Object.keys(FIRST).sort()]])
  expect(lines().join()).not.toContain('secret')
})

test('a second installation changes nothing, and announces nothing', async () => {
  const { settings, announced, stored } = await place()
  await settings.install(FIRST)
  const before = await stored()

  expect(await settings.install({ ssh_host: 'other', ssh_password: 'else' })).toBe(false)

  expect(await stored()).toEqual(before)
  expect(announced).toHaveLength(1)
})

test('a crash in the middle of an installation leaves nothing', async () => {
  const { settings, announced, stored, refuse } = await place()
  await refuse('ssh_host_key')

  await expect(settings.install(FIRST)).rejects.toThrow()

  expect(await stored()).toEqual({})
  expect(await settings.hasSshHost()).toBe(false)
  expect(announced).toEqual([])
})

test('a change returns the changed keys, and calls each listener once', async () => {
  const { settings, announced } = await place()
  await settings.install(FIRST)
  const also: SettingKey[][] = []
  settings.onChange((keys) => also.push([...keys]))

  const changed = await settings.change({ ...FIRST, ssh_username: 'root', hypervisor_url: 'https://pve' })

  expect(changed.sort()).toEqual(['hypervisor_url', 'ssh_username'])
  expect(announced.slice(1)).toEqual([['hypervisor_url', 'ssh_username']])
  expect(also).toHaveLength(1)
})

test('listeners read the new values', async () => {
  const { settings } = await place()
  await settings.install(FIRST)
  const seen: Promise<string>[] = []
  settings.onChange(() => seen.push(settings.sshAccount().then(({ password }) => password)))

  await settings.change({ ssh_password: 'new' })

  expect(await Promise.all(seen)).toEqual(['new'])
})

test.each([
  ['nothing', {}],
  ['empty secrets', { ssh_password: '', hypervisor_token: '' }],
  ['the present values', FIRST],
  ['an empty value where none is', { hypervisor_url: '' }],
])('%s is no change: all values stay, and no listener is called', async (_, values) => {
  const { settings, announced } = await place()
  await settings.install(FIRST)
  const all = async () => [await settings.show(), await settings.sshAccount()]
  const before = await all()

  expect(await settings.change(values)).toEqual([])

  expect(await all()).toEqual(before)
  expect(announced).toHaveLength(1)
})

test('a crash in the middle of a change leaves all values, and calls no listener', async () => {
  const { settings, announced, stored, refuse } = await place()
  await settings.install(FIRST)
  const before = await stored()
  await refuse('dashboard_shortcuts')

  const values = { ssh_host: 'other', ssh_password: 'new', dashboard_shortcuts: '[]' }
  await expect(settings.change(values)).rejects.toThrow()

  expect(await stored()).toEqual(before)
  expect(announced).toHaveLength(1)
})

test('any value except a secret may be emptied', async () => {
  const { settings } = await place()
  await settings.install({ ...FIRST, hypervisor_url: 'https://pve', hypervisor_token: 'token' })

  await settings.change({ ssh_host_key: '', hypervisor_url: '', hypervisor_token: '' })

  expect(await settings.show()).toMatchObject({ ssh_host_key: '', hypervisor_url: '', hypervisor_token_set: true })
})
