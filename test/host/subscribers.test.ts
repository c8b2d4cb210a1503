import { beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Caller, signIn } from './client.ts'
import { follow } from './follower.ts'
import { runJob, startFollowed } from './job.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
let bob: Caller
let token: string
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  bob = await signIn(service, 'bob')
  token = bob.token
  return () => service.stop()
})

test('late, resuming and anonymous subscribers of a running job each get their part of the output', async () => {
  const first = await startFollowed(bob, 'lxc:101')
  await first.until(({ output }) => output().includes('rig-slow: step 10 '))
  const from = Math.floor((first.frames.at(-1)?.seq ?? 0) / 2)
  const late = await follow(service, first.id, { token })
  const resumed = await follow(service, first.id, { token, from })
  const anonymous = await follow(service, first.id)

  const codes = await Promise.all([first, late, resumed, anonymous].map(({ closed }) => closed))

  expect(codes).toEqual([1000, 1000, 1000, 1000])
  const whole = first.output()
  const last = { type: 'update_done', topic: `update:${first.id}`, seq: Buffer.byteLength(whole) }
  for (const { frames } of [first, late, resumed, anonymous]) expect(frames.at(-1)).toMatchObject(last)
  expect(late.output()).toBe(whole)
  expect(resumed.output()).toBe(Buffer.from(whole).subarray(from).toString())
  expect(whole.endsWith(anonymous.output())).toBe(true)
  expect(anonymous.output()).not.toContain('rig-slow: step 10 ')
  expect(anonymous.output()).toContain('rig-slow: step 40 ')
})

test('subscribers of an ended job get its output from the requested byte on, and anonymous ones nothing', async () => {
  const { id, output } = await runJob(bob, 'lxc:102')
  const size = Buffer.byteLength(output)

  const late = await follow(service, id, { token })
  const rest = await follow(service, id, { token, from: size - 20 })
  const nothing = await follow(service, id, { token, from: size })
  const anonymous = await follow(service, id)

  expect(await Promise.all([late, rest, nothing, anonymous].map(({ closed }) => closed))).toEqual([
    1000, 1000, 1000, 1000,
  ])
  expect(late.output()).toBe(output)
  expect(rest.output()).toBe(Buffer.from(output).subarray(-20).toString())
  const done = { type: 'update_done', topic: `update:${id}`, seq: size, data: { job_id: id } }
  expect(late.frames.at(-1)).toMatchObject(done)
  expect(nothing.frames).toEqual([{ ...done, at: expect.any(Number) }])
  expect(anonymous.frames).toEqual([])
})

test('the service selects the panel’s subprotocol and never the token', async () => {
  const follower = await follow(service, '1-aaaaaaaa', { token })

  expect(follower.protocol()).toBe('panel.v1')
  expect(await follower.closed).toBe(4404)
})

test('the service closes a socket with a bad token with 4401', async () => {
  const follower = await follow(service, '1-aaaaaaaa', { token: 'not.a.token' })

  expect(await follower.closed).toBe(4401)
})

test('the service refuses a foreign Origin with 403 before the upgrade', async () => {
  const socket = new WebSocket(`${service.url}/ws/updates/1-aaaaaaaa`, { origin: 'https://elsewhere.example' })

  const status = await new Promise((resolve) =>
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
  )

  expect(status).toBe(403)
})
