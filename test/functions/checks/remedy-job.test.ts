import { spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPAIR } from '../../../functions/checks/remedy-scripts.ts'
import { temporaryFolder } from '../../db/folder.ts'

/** Runs the repair in this machine's shell, with programs that exit as `ends` says for their arguments. */
async function repaired(
  ends: { configure?: number; update?: number; install?: number; audit?: string; check?: number },
  sudo = '',
) {
  const folder = await temporaryFolder()
  const program = async (name: string, text: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(folder, name), 0o755)
  }
  const { configure = 0, update = 0, install = 0, audit = 'exit 0', check = 0 } = ends
  await program('dpkg', `case "$*" in --audit) ${audit} ;; *--configure*) exit ${configure} ;; esac`)
  await program(
    'apt-get',
    `case "$*" in *install*) exit ${install} ;; *check*) exit ${check} ;; *update*) exit ${update} ;; esac`,
  )
  await program('sudo', 'shift; exec "$@"')
  const env = { PATH: `${folder}:${process.env.PATH}` }
  const { status, stdout } = spawnSync('sh', ['-c', REPAIR, 'name', sudo], { encoding: 'utf8', env })
  return [status, stdout.trim()]
}

const NOTHING = [0, 'Nothing is left unfinished.']
const SOMETHING = [1, 'Something is still unfinished.']

test('the state after the repair decides its result, not the exit codes of the steps', async () => {
  expect(await repaired({})).toEqual(NOTHING)
  // apt completed what dpkg could not; an unreachable repository leaves nothing unfinished.
  expect(await repaired({ configure: 1 })).toEqual(NOTHING)
  expect(await repaired({ update: 100 }, 'sudo -n')).toEqual(NOTHING)
})

test.each([
  ['dpkg reports a package', { audit: 'echo half-configured' }],
  ['dpkg cannot tell', { audit: 'exit 2' }],
  ['dependencies are unmet', { check: 100 }],
])('where %s the result does not claim that nothing is left', async (_, ends) => {
  expect(await repaired(ends)).toEqual(SOMETHING)
})
