import { beforeAll, expect, test } from 'vitest'
import { type Caller, packages, signIn } from './client.ts'
import type { Frame } from './follower.ts'
import { jobResult, runJob } from './job.ts'
import { jobFolders } from './remains.ts'
import { dpkgStatus, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  await rig('lang', 'fr_FR.UTF-8')
  service = await startService()
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

test('an upgrade of a container arrives line by line, and the history has its whole output', async () => {
  const { id, code, frames, output, last, record } = await runJob(bob, 'lxc:101')

  expect(code).toBe(1000)
  expect(last).toMatchObject({ type: 'update_done', topic: `update:${id}`, data: { job_id: id } })
  expect(output.match(/rig-slow: step \d+ of 40/g)).toHaveLength(40)
  const steps = frames.filter((frame) => chunk(frame).includes('rig-slow: step'))
  expect(steps.length).toBeGreaterThanOrEqual(20)
  expect((steps.at(-1)?.at ?? 0) - (steps[0]?.at ?? 0)).toBeGreaterThan(1_000)

  expect(record).toMatchObject({ status: 'success', finished_at: expect.any(String) })
  expect(Buffer.from(record.output).equals(Buffer.from(output))).toBe(true)
  expect(output.endsWith('\n')).toBe(true)
  expect(await packages(bob, 'lxc:101')).toEqual([])
})

test('an upgrade of all upgrades every running container in turn, and not the host', async () => {
  await rig('reset', '101')

  const { id, code, output, record } = await runJob(bob, 'all')

  expect(code).toBe(1000)
  expect(record).toMatchObject({ status: 'success', output })
  expect(output.match(/^(=== LXC \d+ ===|SKIP LXC \d+|Setting up rig-web.*)$/gm)).toEqual([
    '=== LXC 101 ===',
    'Setting up rig-web (2.0) ...',
    '=== LXC 102 ===',
    'Setting up rig-web (2.0) ...',
    '=== LXC 103 ===',
    'SKIP LXC 103',
  ])
  expect(output).toContain("container '103' not running!")
  // The host's notes distinguish a stopped container from a failed one.
  expect(await jobResult(bob, id)).toEqual({
    exit_code: 0,
    error_code: null,
    started_by_name: 'bob',
    containers: [
      { vmid: 101, name: 'web', state: 'done', exit_code: 0 },
      { vmid: 102, name: 'db', state: 'done', exit_code: 0 },
      { vmid: 103, name: 'old-backup', state: 'stopped', exit_code: 255 },
    ],
  })
  expect(await packages(bob, 'lxc:101')).toEqual([])
  expect(await packages(bob, 'lxc:102')).toEqual([])
  expect(await packages(bob, 'host')).toHaveLength(5)
})

test('an upgrade of the host arrives live, and each frame has the offset of its output', async () => {
  const { code, frames, output, last, record } = await runJob(bob, 'host')

  expect(code).toBe(1000)
  expect(record).toMatchObject({ status: 'success', output })
  expect(last).toMatchObject({ type: 'update_done', seq: Buffer.byteLength(output) })
  let seq = 0
  for (const frame of frames) {
    seq += Buffer.byteLength(chunk(frame))
    expect(frame.seq).toBe(seq)
  }
  expect(frames.filter((frame) => chunk(frame).includes('rig-slow: step')).length).toBeGreaterThanOrEqual(20)
  expect(await packages(bob, 'host')).toEqual([])
  // Only a full upgrade installs new packages and removes old ones.
  expect(await dpkgStatus('host', 'rig-new')).toBe('install ok installed 2.0')
  expect(await dpkgStatus('host', 'rig-old')).not.toContain('ok installed')
})

test('a job leaves no folder on the host', async () => {
  await expect.poll(jobFolders, { timeout: 5_000 }).toBe('')
})

function chunk(frame: Frame): string {
  return frame.type === 'update_output' ? frame.data.chunk : ''
}
