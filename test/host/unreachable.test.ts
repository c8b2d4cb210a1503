import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Answer, type Caller, login, packages, signIn } from './client.ts'
import { inside, PASSWORDS, rig, SSH_HOST } from './rig.ts'
import { type Service, startService } from './service.ts'
import { startups } from './startups.ts'

let service: Service
let alice: Caller
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  alice = await signIn(service, 'alice')
  return () => service.stop()
})

const idle = new Set<Socket>()
afterEach(async () => {
  await rig('freeze', 'off')
  for (const socket of idle) socket.destroy()
  idle.clear()
})

test('while sshd drops connections, a login is answered “unreachable” and signed-in users work on', async () => {
  // Opens the service’s own connection first: sshd does not drop established ones.
  await packages(alice, 'lxc:102')
  await fill()

  const answer = await login(service, 'bob', PASSWORDS.bob)

  await expectUnreachable(answer, 'bob')
  expect(answer.ms).toBeLessThan(5_000)
  expect(await rig('log')).toContain('MaxStartups')
  expect(await packages(alice, 'lxc:102')).toHaveLength(5)
})

test('users can sign in as soon as the host no longer drops connections', async () => {
  await expect.poll(startups().now, { timeout: 10_000 }).toBe(0)

  const answer = await login(service, 'bob', PASSWORDS.bob)

  expect(answer.status).toBe(200)
  expect(answer.ms).toBeLessThan(5_000)
})

test('a host that stops answering during a password check is reported as unreachable within 30 s', async () => {
  const asked = login(service, 'bob', 'wrong')
  await expect.poll(() => inside('host', 'pgrep -f "^sshd: bob" || true'), { timeout: 5_000 }).not.toBe('')
  await rig('freeze', 'on')

  const answer = await asked

  await expectUnreachable(answer, 'bob')
  expect(answer.ms).toBeLessThan(30_000)
})

/** Opens silent connections until sshd has as many as it admits. */
async function fill() {
  const { now, limits } = startups()
  const full = Number(limits.split('-')[1])
  const [host, port = ''] = SSH_HOST.split(':')
  const occupied = () => now() === full
  const deadline = performance.now() + 30_000
  while (!occupied()) {
    expect(performance.now(), 'until sshd is full').toBeLessThan(deadline)
    // The closer sshd is to its limit, the more likely it drops the next connection at once.
    const socket = connect(Number(port), host)
    idle.add(socket)
    socket.on('error', () => {}).on('close', () => idle.delete(socket))
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
  }
}

const Audit = z.object({
  entries: z.array(
    z.object({
      action: z.string(),
      username: z.string().nullable(),
      details: z.object({ reason: z.string(), error: z.string() }),
    }),
  ),
})

/** Expects the answer of an unreachable host, and the cause only in the audit log. */
async function expectUnreachable({ status, body }: Answer, username: string) {
  expect(body).toEqual({ error: 'Connexion impossible : l’hôte SSH ne répond pas.', code: 'ssh_unreachable' })
  expect(status).toBe(401)
  const { entries } = Audit.parse((await alice.get('/api/audit?action=login_failed&limit=1')).body)
  expect(entries).toEqual([
    { action: 'login_failed', username, details: { reason: 'unreachable', error: expect.stringMatching(/.+/) } },
  ])
}
