import { chmod, symlink, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownPlace } from '../../../platform/program.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { told } from './standing-app.ts'

test('a machine tells its boot id, its pid namespace and its addresses, and nothing of the loopback', async () => {
  const facts = await told()
  const own = await ownPlace()
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])

  expect(facts).toMatchObject({ boot: own?.boot, namespace: own?.namespace })
  expect(facts?.addresses.filter((address) => /^127\.|^::1$|^fe80:/.test(address))).toEqual([])
  expect(all.map(({ address }) => address)).toEqual(expect.arrayContaining(facts?.addresses ?? []))
})

test('a machine without the program ip tells the addresses of its host name', async () => {
  const folder = await temporaryFolder()
  for (const name of ['readlink', 'cat', 'awk', 'head', 'id', 'find', 'cut'])
    await symlink(`/usr/bin/${name}`, join(folder, name))
  await writeFile(join(folder, 'ip'), '#!/bin/sh\nexit 127\n')
  await writeFile(join(folder, 'hostname'), '#!/bin/sh\necho "192.0.2.9 2001:db8::9 "\n')
  for (const name of ['ip', 'hostname']) await chmod(join(folder, name), 0o755)

  expect((await told(folder))?.addresses).toEqual(['192.0.2.9', '2001:db8::9'])
})
