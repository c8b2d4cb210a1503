import { describe, expect, test } from 'vitest'
import { coverage } from '../../../functions/waves/wave-targets.ts'
import { SshError } from '../../../ssh/connection.ts'
import { NO_UPGRADES } from './simulations.ts'
import { wave, waveApp } from './wave-app.ts'

const LISTED = [101, 102, 103, 104].map((vmid) => ({
  vmid,
  name: `ct${vmid}`,
  status: vmid === 104 ? 'stopped' : 'running',
}))
const TAGS = new Map([
  [101, ['prod', 'web']],
  [102, ['prod']],
  [103, ['test']],
  [104, ['prod']],
])
const cover = (given: Partial<Parameters<typeof coverage>[0]>) => {
  const { targets, left } = coverage({ wave: 'rest', others: [], listed: LISTED, tags: TAGS, former: [], ...given })
  return { targets, left: left.map(({ target, outcome }) => `${target} ${outcome}`) }
}

describe('the targets of a wave', () => {
  test('the rest are the running containers that no other wave names, by itself or by a tag', () => {
    expect(cover({})).toEqual({ targets: ['lxc:101', 'lxc:102', 'lxc:103'], left: [] })
    expect(cover({ others: ['lxc:102', 'host'] }).targets).toEqual(['lxc:101', 'lxc:103'])
    expect(cover({ others: ['tag:test', 'lxc:101'] }).targets).toEqual(['lxc:102'])
  })

  test('a tag covers the containers that have it, without those that another wave names by itself', () => {
    expect(cover({ wave: ['tag:prod'] })).toEqual({ targets: ['lxc:101', 'lxc:102'], left: ['lxc:104 skipped'] })
    expect(cover({ wave: ['tag:prod'], others: ['lxc:101', 'tag:web'] }).targets).toEqual(['lxc:102'])
    expect(cover({ wave: ['tag:prod', 'lxc:101'] }).targets).toEqual(['lxc:101', 'lxc:102'])
    expect(cover({ wave: ['tag:none'] })).toEqual({ targets: [], left: ['tag:none skipped'] })
    expect(cover({ wave: ['tag:pro'] })).toEqual({ targets: [], left: ['tag:pro skipped'] })
  })

  test('a container that an earlier wave has begun is not done again', () => {
    const jobs = [{ target: 'lxc:101', job_id: 'x', outcome: 'upgraded', reason: null }]
    const ended = {
      targets: ['tag:web'],
      pause_minutes: 0,
      state: 'ended',
      run_id: null,
      started_at: null,
      finished_at: null,
      jobs,
    } as const
    const former = [{ ...ended, targets: ['tag:web'] }]
    expect(cover({ wave: ['tag:prod'], others: ['tag:web'], former }).targets).toEqual(['lxc:102'])
  })

  test('a container that is gone or stopped is told, and the host needs no list', () => {
    expect(cover({ wave: ['host', 'lxc:999', 'lxc:104'], listed: LISTED })).toEqual({
      targets: ['host'],
      left: ['lxc:999 impossible', 'lxc:104 skipped'],
    })
  })

  test('a wave has at most 200 targets, and the first one beyond is told', () => {
    const listed = Array.from({ length: 205 }, (_, n) => ({ vmid: 1000 + n, name: '', status: 'running' }))
    expect(cover({ listed })).toEqual({
      targets: listed.slice(0, 200).map(({ vmid }) => `lxc:${vmid}`),
      left: ['lxc:1200 impossible'],
    })
  })
})

test('tags are read from the configuration of each container', async () => {
  const { begin, ended, outcomes } = await waveApp({
    tags: { 101: 'prod;web', 103: 'web' },
    plans: Object.fromEntries([101, 102, 103].map((n) => [n, { stdout: NO_UPGRADES }])),
  })
  const id = await begin({ waves: [wave(['tag:web']), wave('rest')] })

  await ended(id, 'done')

  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'nothing_to_do', 'lxc:103': 'nothing_to_do' })
  expect(await outcomes(id, 1)).toEqual({ 'lxc:102': 'nothing_to_do' })
})

test('where nothing tells the tags, a wave of tags is impossible, and so is the rest', async () => {
  const { services, begin, ended, outcomes, read } = await waveApp()
  services.host.elevation = async () => 'helper'
  const id = await begin({ waves: [wave(['tag:web']), wave('rest')], on_failure: 'continue' })

  await ended(id, 'done')

  expect(await outcomes(id, 0)).toEqual({ 'tag:web': 'impossible' })
  expect(await outcomes(id, 1)).toEqual({ rest: 'impossible' })
  expect((await read(id)).waves[0]?.jobs[0]?.reason).toBe(
    'Les étiquettes des conteneurs ne sont pas connues : il faut un jeton de l’API de l’hyperviseur, dans les réglages.',
  )
})

test('a list of containers that fails is asked for again', async () => {
  const { app, services, begin, tick, until, read } = await waveApp()
  const exec = services.host.exec
  let fails = true
  services.host.exec = async (command, options) => {
    if (fails && command[1] === 'list') throw new SshError('unreachable', 'non')
    return exec(command, options)
  }
  const id = await begin()
  for (let n = 0; n < 5; n += 1) await tick()
  expect((await read(id)).waves[0]?.state).toBe('planning')

  fails = false
  app.advance(10_000)
  await until(id, 0, 'running')
})
