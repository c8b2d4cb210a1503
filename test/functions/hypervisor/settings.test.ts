import { expect, test } from 'vitest'
import { writeSettings } from '../../../db/settings.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { NOW } from '../../db/database.ts'
import { place } from '../../settings/place.ts'

test('the hypervisor access exists once address and token are set, whatever else is set', async () => {
  const { settings } = await place()
  expect(await settings.hypervisor()).toBeUndefined()

  await settings.change({ hypervisor_token: 'panel@pve!ops=x' })
  expect(await settings.hypervisor()).toBeUndefined()
  await settings.change({ hypervisor_url: 'https://pve:8006' })
  const access = { url: 'https://pve:8006', token: 'panel@pve!ops=x' }
  expect(await settings.hypervisor()).toEqual({ ...access, fingerprint: '' })
  await settings.change({ hypervisor_fingerprint: 'AA:BB' })
  expect(await settings.hypervisor()).toEqual({ ...access, fingerprint: 'AA:BB' })
  await settings.change({ hypervisor_url: '' })
  expect(await settings.hypervisor()).toBeUndefined()
})

test('a token of the hypervisor that cannot be decrypted is an error, and is not logged', async () => {
  const { settings, db, lines } = await place()
  await settings.change({ hypervisor_url: 'https://pve:8006', hypervisor_token: 'panel@pve!ops=x' })
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('hypervisor_token', 'panel@pve!ops=other')
  await writeSettings(db, { hypervisor_token: sealed }, NOW)

  await expect(settings.hypervisor()).rejects.toMatchObject({ code: 'hypervisor_token_unreadable' })

  expect(lines().join('\n')).toContain('hypervisor_token cannot be decrypted')
  expect(lines().join('\n')).not.toContain('panel@pve')
})
