import { expect, test } from 'vitest'
import { writeSettings } from '../../db/settings.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { NOW } from '../db/database.ts'
import { FIRST, KEY, place } from '../settings/place.ts'

test('the pinned key stays with another host too, unless the change contains one', async () => {
  const { settings } = await place()
  await settings.install(FIRST)

  expect(await settings.change({ ssh_host: 'pve', ssh_username: 'root' })).toEqual(['ssh_username'])
  expect(await settings.change({ ssh_host: 'other' })).toEqual(['ssh_host'])
  expect(await settings.sshServer()).toMatchObject({ host: 'other', hostKey: KEY })
  await settings.change({ ssh_host: 'third', ssh_host_key: 'ssh-rsa SHA256:y' })
  expect((await settings.sshServer()).hostKey).toBe('ssh-rsa SHA256:y')
  await settings.change({ ssh_host: 'fourth', ssh_host_key: '' })
  expect((await settings.sshServer()).hostKey).toBe('')
})

test('any password differs from one that cannot be decrypted', async () => {
  const { db, settings } = await place()
  await settings.install(FIRST)
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('ssh_password', 'secret')
  await writeSettings(db, { ssh_password: sealed }, NOW)
  await expect(settings.sshAccount()).rejects.toMatchObject({ code: 'ssh_password_unreadable' })

  expect(await settings.change({ ssh_password: 'secret' })).toEqual(['ssh_password'])

  expect((await settings.sshAccount()).password).toBe('secret')
})

test('pinning a key and filling from the environment call no listener', async () => {
  const { settings, announced } = await place()

  await settings.fillSsh({ host: 'pve', username: 'panel', password: 'secret', hostKey: '' })
  await settings.pinHostKey(KEY, 'pve')

  expect(await settings.sshAccount()).toMatchObject({ host: 'pve', hostKey: KEY })
  expect(announced).toEqual([])
})
