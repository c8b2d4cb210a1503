import { expect, test } from 'vitest'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import history from '../../../functions/jobs/history.get.ts'
import run from '../../../functions/runs/run.post.ts'
import type { Command } from '../../../ssh/command.ts'
import { testApp } from '../../app.ts'
import { jobHost, jobScripts, settled } from '../jobs/job-host.ts'

/** Starts an upgrade on a host whose helper says that this is its version; returns its record. */
async function upgradeWith(version: string) {
  const host = jobHost({})
  const exec = (command: Command) => (command[1] === 'version' ? { stdout: version } : host.exec(command))
  const app = await testApp([run, history], { fake: { exec, elevation: 'helper' } })
  await app.request('POST', '/api/updates/run', { as: 'user', body: { target: 'host' } })
  const [job] = (await settled(app)) ?? []
  return { job, scripts: jobScripts(app).map(({ script }) => script) }
}

test.each([
  ['1\n', '1'],
  ['', '0'],
  ['ops-panel-host 9: it does not know this verb\n', '0'],
])('an upgrade under a host helper that says %j ends with what to do, and nothing runs', async (version, told) => {
  const { job, scripts } = await upgradeWith(version)

  expect(job).toMatchObject({
    status: 'error',
    output: `L’assistant ops-panel-host de l’hôte est en version ${told}, et il faut la version ${HELPER_VERSION} : « ops-panel host helper » dit comment le remplacer.`,
  })
  expect(scripts).toEqual([])
})

test.each([HELPER_VERSION, HELPER_VERSION + 1])('a helper of version %i serves', async (version) => {
  const { job, scripts } = await upgradeWith(`${version}\n`)

  expect(job).toMatchObject({ status: 'success' })
  expect(scripts).toContain('start')
})
