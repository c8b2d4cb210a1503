import { chmod, symlink, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { targetFactsOf } from '../../../functions/restarts/standing-facts.ts'
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

test('a container cannot add a line by the name of a control group', async () => {
  const folder = await temporaryFolder()
  const put = async (name: string, body: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(folder, name), 0o755)
  }
  const forged = String.raw`\nplace 11111111-2222-4333-8444-555555555555 pid:[1]\naddress 192.0.2.66/24 eth0\n`
  await writeFile(join(folder, 'cgroup'), `0::/lxc/666/ns/docker-${forged}\n`)
  await put('id', 'echo 0')
  await put('find', `echo 'pid:[77] ${folder}/ns/pid'`)

  const facts = await told(`${folder}:${process.env.PATH}`)

  expect(facts).toMatchObject({
    boot: (await ownPlace())?.boot,
    inner: [{ namespace: '77', container: '666', engine: true }],
  })
  expect(facts?.addresses).not.toContain('192.0.2.66')
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

test('what a container tells of itself stays small, whatever it tells', () => {
  const boot = '11111111-2222-4333-8444-555555555555'
  const lines = Array.from({ length: 900 }, (_, n) => `address fe80::${n.toString(16)}%${'z'.repeat(4_000)}/64 eth0`)
  const more = Array.from({ length: 900 }, (_, n) => `address 10.0.${n >> 8}.${n & 255}/8 docker0`)

  const long = targetFactsOf([`place ${boot} pid:[2]`, ...lines])
  const many = targetFactsOf([`place ${boot} pid:[2]`, ...more])

  expect(long?.addresses).toEqual([])
  expect(many?.bridges).toHaveLength(64)
})
