import { expect, test } from 'vitest'
import { findingOf } from '../../../functions/findings/finding.ts'
import { signalOf } from '../../../functions/waves/ping.ts'
import { planned } from '../managers/inspected.ts'
import { NO_UPGRADES } from './simulations.ts'
import { wave, waveApp } from './wave-app.ts'

const CONTAINERS = { 101: 'running', 102: 'running', 103: 'running' }
const WHOLE = 'pacman met toujours tout à jour ensemble : une partie seulement laisserait un système incohérent.'
/** A target with pacman, for which a selection gives no plan. */
const PACMAN = {
  plans: { 101: { stdout: 'manager pacman\n' } },
  managed: { 101: { stdout: planned({ planned: ['unsupported', 'code|0'] }, 'pacman') } },
}
const SECURITY = { only: 'security', waves: [wave(['lxc:101', 'lxc:102']), wave(['lxc:103'])] } as const

test('a target whose manager cannot tell security updates is left out, and the others go on', async () => {
  const { begin, until, ended, endJob, outcomes, read, jobsOf, stopped } = await waveApp({
    ...PACMAN,
    containers: CONTAINERS,
  })
  const id = await begin({ ...SECURITY, waves: [...SECURITY.waves], on_failure: 'stop' })

  await until(id, 0, 'running')
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'left_out', 'lxc:102': null })
  expect((await read(id)).reason).toBeNull()
  await endJob('lxc:102', 'upgraded')
  await until(id, 1, 'running')
  await endJob('lxc:103', 'upgraded')
  const run = await ended(id, 'done')

  expect(run).toMatchObject({ reason: 'left_out' })
  expect(run.waves[0]?.jobs).toContainEqual({ target: 'lxc:101', job_id: null, outcome: 'left_out', reason: WHOLE })
  expect(await jobsOf()).toEqual(['lxc:102', 'lxc:103'])
  expect(await stopped()).toEqual([])
  expect(signalOf(run.state, JSON.stringify(run))).toBe('fail')
})

test('a wave of such targets alone ends, and the next one begins', async () => {
  const { begin, until, ended, endJob } = await waveApp({ ...PACMAN, containers: CONTAINERS })
  const id = await begin({ only: 'security', waves: [wave(['lxc:101']), wave(['lxc:103'])] })

  await until(id, 1, 'running')
  await endJob('lxc:103', 'upgraded')

  expect(await ended(id, 'done')).toMatchObject({ reason: 'left_out' })
})

test('no security update where nobody marks them is no reason to say that there is nothing to do', async () => {
  const unknown = findingOf('security_unknown')
  const none = { stdout: NO_UPGRADES }
  const { begin, ended, read } = await waveApp({
    containers: { 101: 'running', 102: 'running' },
    plans: { 101: none, 102: none },
    findings: { 101: [unknown] },
  })
  const id = await begin({ only: 'security', waves: [wave(['lxc:101', 'lxc:102'])] })

  expect(await ended(id, 'done')).toMatchObject({ reason: 'left_out' })
  expect((await read(id)).waves[0]?.jobs.map(({ target, outcome, reason }) => [target, outcome, reason])).toEqual([
    ['lxc:101', 'left_out', unknown.message],
    ['lxc:102', 'nothing_to_do', null],
  ])
})

test('a schedule of all updates says nothing of marks', async () => {
  const { begin, ended, outcomes } = await waveApp({
    containers: { 101: 'running' },
    plans: { 101: { stdout: NO_UPGRADES } },
    findings: { 101: [findingOf('security_unknown')] },
  })
  const id = await begin({ only: 'all', waves: [wave(['lxc:101'])] })

  expect(await ended(id, 'done')).toMatchObject({ reason: null })
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'nothing_to_do' })
})

test('a manager that cannot tell what a whole upgrade changes is a failure still', async () => {
  const { begin, ended, outcomes } = await waveApp({ ...PACMAN, containers: CONTAINERS })
  const id = await begin({ only: 'all', waves: [wave(['lxc:101']), wave(['lxc:103'])] })

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'failed' })
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'impossible' })
})

test('after something that works no more, the reason to stop is the reason of the run', async () => {
  const { begin, until, ended, endJob, outcomes } = await waveApp({ ...PACMAN, containers: CONTAINERS })
  const id = await begin({ ...SECURITY, waves: [...SECURITY.waves] })
  await until(id, 0, 'running')

  await endJob('lxc:102', 'regressed')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'regressed' })
  expect(await outcomes(id, 0)).toMatchObject({ 'lxc:101': 'left_out' })
})
