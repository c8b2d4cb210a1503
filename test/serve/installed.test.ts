import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError } from '../../platform/config.ts'
import { INSTALLED, installedEnvironment, serviceEnvironment } from '../../serve/installed.ts'
import { temporaryFolder } from '../db/folder.ts'

const PROGRAM = INSTALLED.program

async function installedWith(text: string) {
  const environment = join(await temporaryFolder(), 'ops-panel.env')
  await writeFile(environment, text)
  return { program: PROGRAM, environment, data: '/var/lib/ops-panel' }
}

test('the package’s program has the package’s data and variables; variables already set take precedence', async () => {
  const installed = await installedWith('PANEL_PORT=1\nPANEL_HOST=::1\n')

  expect(await installedEnvironment({ PANEL_PORT: '2', PATH: '/bin' }, PROGRAM, installed)).toEqual({
    PANEL_DATA_DIR: '/var/lib/ops-panel',
    PANEL_HOST: '::1',
    PANEL_PORT: '2',
    PATH: '/bin',
  })
})

test('the file may name another data folder', async () => {
  const installed = await installedWith('PANEL_DATA_DIR=/srv/panel\n')

  expect(await installedEnvironment({}, PROGRAM, installed)).toEqual({ PANEL_DATA_DIR: '/srv/panel' })
})

test('another program, or another data folder, does not use the package’s environment', async () => {
  const installed = await installedWith('PANEL_PORT=1\n')
  const elsewhere = { PANEL_DATA_DIR: './mine' }

  expect(await installedEnvironment({}, '/usr/local/bin/ops-panel', installed)).toEqual({})
  expect(await installedEnvironment(elsewhere, PROGRAM, installed)).toEqual(elsewhere)
})

test('without the file the defaults apply; an unreadable one is an error', async () => {
  const folder = await temporaryFolder()
  const missing = { program: PROGRAM, environment: join(folder, 'none'), data: '/var/lib/ops-panel' }
  const unreadable = { ...missing, environment: join(folder, 'folder') }
  await mkdir(unreadable.environment)

  expect(await installedEnvironment({}, PROGRAM, missing)).toEqual({ PANEL_DATA_DIR: '/var/lib/ops-panel' })
  await expect(installedEnvironment({}, PROGRAM, unreadable)).rejects.toThrow(ConfigError)
  await expect(installedEnvironment({}, PROGRAM, unreadable)).rejects.toThrow(unreadable.environment)
})

test('the package’s program starts a service only with a data folder named', () => {
  const unit = { PANEL_DATA_DIR: '/var/lib/ops-panel' }

  expect(serviceEnvironment(unit, PROGRAM)).toBe(unit)
  expect(serviceEnvironment({}, '/usr/local/bin/ops-panel')).toEqual({})
  expect(() => serviceEnvironment({}, PROGRAM)).toThrow(ConfigError)
  expect(() => serviceEnvironment({ PANEL_DATA_DIR: '' }, PROGRAM)).toThrow('systemctl start ops-panel')
})

test('an empty variable counts as unset', async () => {
  const installed = await installedWith('')

  expect(await installedEnvironment({ PANEL_DATA_DIR: '' }, PROGRAM, installed)).toEqual({
    PANEL_DATA_DIR: '/var/lib/ops-panel',
  })
})
