import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { detectDeployer } from '../../../modules/deploy/deployer.ts'
import { temporaryFolder } from '../../db/folder.ts'

// Every test in test/docker shows that a container sees its engine.
test.each([
  ['the setting takes precedence', 'none', { SYSTEMD_EXEC_PID: '42' }, 'none'],
  ['a process that systemd has started is detected', undefined, { SYSTEMD_EXEC_PID: '42' }, 'process'],
  ['a program that such a service starts is not', undefined, { SYSTEMD_EXEC_PID: '41' }, 'none'],
  ['a process that is started by hand is not', undefined, {}, 'none'],
] as const)('%s', async (_, deployer, environment, detected) => {
  expect(await detectDeployer({ deployer, dockerSocket: '/nowhere' }, environment, 42)).toBe(detected)
})

test('a service uses docker only in a container that sees an engine’s socket', async () => {
  const folder = await temporaryFolder()
  const [dockerSocket, mark] = [join(folder, 'docker.sock'), join(folder, 'mark')]
  const detected = (socket: string, inContainer: string) =>
    detectDeployer({ deployer: undefined, dockerSocket: socket }, {}, 42, inContainer)
  const engine = createServer()
  await new Promise<void>((resolve) => engine.listen(dockerSocket, resolve))
  await writeFile(mark, '')

  expect(await detected(dockerSocket, mark)).toBe('docker')
  expect(await detected(dockerSocket, join(folder, 'none'))).toBe('none')
  expect(await detected(join(folder, 'none'), mark)).toBe('none')
  expect(await detected(mark, mark)).toBe('none')

  await new Promise((resolve) => engine.close(resolve))
})
