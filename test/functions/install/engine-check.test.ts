import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../db/folder.ts'
import { runProgram } from '../../serve/program.ts'

// test/docker covers engines that answer or refuse an account.
test.each([
  ['docker', true],
  ['process', false],
  ['none', false],
] as const)('with PANEL_DEPLOYER=%s doctor checks the engine: %s', async (deployer, looks) => {
  const folder = await temporaryFolder()
  const socket = join(folder, 'docker.sock')

  const env = { PANEL_DATA_DIR: folder, PANEL_DEPLOYER: deployer, PANEL_DOCKER_SOCKET: socket }
  const { stdout } = await runProgram(env, 'doctor')

  const lines = stdout.split('\n').filter((line) => line.includes('Docker'))
  expect(lines).toEqual(looks ? [expect.stringMatching(/^✗ Les modules avec du code .* moteur Docker/)] : [])
})
