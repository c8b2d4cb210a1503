import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import { HOST_HELPER_PROGRAM, HOST_HELPER_SHA256 } from '../../../functions/install/host-helper.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { typeCommand } from '../console.ts'

// test/host/host-helper.test.ts covers its use by root's account.

test('the program is readable shell, and its first line fits the limit of older kernels', async () => {
  const file = join(await temporaryFolder(), 'ops-panel-host')
  await writeFile(file, HOST_HELPER_PROGRAM)

  expect(String(execFileSync('sh', ['-n', file], { stdio: 'pipe' }))).toBe('')
  expect(HOST_HELPER_PROGRAM.split('\n')[0]?.length).toBeLessThan(127)
  expect(HOST_HELPER_PROGRAM).toContain(`\nVERSION=${HELPER_VERSION}\n`)
})

test('another text of the program has another version, because hosts have the former one installed', () => {
  expect([HELPER_VERSION, HOST_HELPER_SHA256]).toEqual([
    9,
    '1329ae482334063abedaefdd864dd2af085dd8ca4184160ae5bda87a74e8ff75',
  ])
})

test('the console prints the program unchanged, with its checksum', async () => {
  const { services: bare, secrets } = await testApp([])
  const services = { ...bare, secrets }
  const { text } = await typeCommand(services, ['host', 'helper'])
  const printed = await typeCommand(services, ['host', 'helper', '--print'])

  expect(`${printed.text}\n`).toBe(HOST_HELPER_PROGRAM)
  expect(text).toContain(createHash('sha256').update(HOST_HELPER_PROGRAM).digest('hex'))
})
