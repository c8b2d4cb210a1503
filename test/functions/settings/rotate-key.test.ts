import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { readSettings } from '../../../db/settings.ts'
import type { Account } from '../../../demo/account.ts'
import type { DemoHost } from '../../../demo/host.ts'
import rotate from '../../../functions/settings/rotate-key.post.ts'
import settings from '../../../functions/settings/settings.get.ts'
import change from '../../../functions/settings/settings.patch.ts'
import { createHost } from '../../../ssh/host.ts'
import { authorizedLine, newSshKey } from '../../../ssh/key.ts'
import { mount, testApp } from '../../app.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/settings/ssh-key/rotate'
const OTHER = `${authorizedLine(newSshKey())}\n`

const Answer = z.strictObject({
  state: z.enum(['rotated', 'waiting']),
  ssh_public_key: z.string().regex(/^ssh-ed25519 AAAA[\w+/=]+$/),
  authorized_key: z.string(),
  old_key_left: z.boolean(),
  message: z.string().min(1),
})

/** A service whose account on a demo host has a password, and the file of that account's keys. */
async function start(more: Partial<Account> = {}, sudo: Account['sudo'] = 'nopasswd') {
  const account: Account = { password: 'pw-of-svc', uid: 1300, groups: ['svc'], sudo, authorizedKeys: OTHER, ...more }
  const demo = await startDemo({ users: { svc: account } })
  const app = await testApp([], {
    ssh: { host: `127.0.0.1:${demo.port}`, username: 'svc', password: account.password },
  })
  const host = createHost({ settings: app.services.settings, log: app.services.log })
  onTestFinished(() => host.close())
  app.services.settings.onChange(() => host.renew())
  const mounted = mount([rotate, settings, change], { ...app.services, host })
  const request = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${await app.tokenFor('admin')}` }
    return mounted.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  }
  const user = demo.users.get('svc')
  if (!user) throw new Error('the demo host has no such account')
  return {
    ...app,
    demo,
    user,
    host,
    send: (body: object = {}) => request('POST', PATH, body),
    rotated: async (body: object = {}) => Answer.parse(await answered(await request('POST', PATH, body), 200)),
    shown: async () =>
      z.record(z.string(), z.unknown()).parse(await answered(await request('GET', '/api/settings'), 200)),
    patch: (body: object) => request('PATCH', '/api/settings', body),
    stored: async () => Object.fromEntries(await readSettings(app.db)),
    /** Runs a command as the service would now. */
    works: async () => (await host.exec(['id', '-u'])).stdout,
    audit: async () => (await audited(app.db)).map(({ action, details }) => ({ action, details })),
  }
}

const passwords = ({ signIns }: DemoHost) => signIns.filter((name) => name === 'svc').length

test('an account by password gets its first key, and uses it from then on', async () => {
  const { rotated, shown, user, demo, works, audit, stored, lines } = await start()

  const answer = await rotated()

  expect(answer).toMatchObject({ state: 'rotated', old_key_left: false, message: 'La nouvelle clé est en service.' })
  expect(user.authorizedKeys).toBe(`${OTHER}restrict,pty ${answer.ssh_public_key} ops-panel\n`)
  expect(await shown()).toMatchObject({
    ...{ ssh_key_set: true, ssh_public_key: answer.ssh_public_key, ssh_password_set: true },
    ...{ ssh_key_next_set: false, ssh_key_retired: '' },
    ...{ ssh_authorized_key: answer.authorized_key, ssh_next_authorized_key: '' },
  })
  const before = passwords(demo)
  expect(await works()).toBe('1300\n')
  expect(passwords(demo)).toBe(before)
  expect(await audit()).toEqual([
    {
      action: 'ssh_key_rotated',
      details: { fingerprint_before: '', fingerprint_after: expect.stringMatching(/^SHA256:/), password: 'kept' },
    },
  ])
  expect(`${JSON.stringify(await stored())}${lines().join()}`).not.toMatch(/OPENSSH|PRIVATE KEY/)
})

test('a rotation replaces the key and its line, with the options that it had; other lines stay', async () => {
  const { rotated, user, works, audit } = await start()
  const first = await rotated()
  user.authorizedKeys = `${OTHER}from="127.0.0.1",restrict,pty ${first.ssh_public_key} mine\n`

  const second = await rotated()

  expect(second.ssh_public_key).not.toBe(first.ssh_public_key)
  expect(user.authorizedKeys).toBe(`${OTHER}from="127.0.0.1",restrict,pty ${second.ssh_public_key} ops-panel\n`)
  expect(second).toMatchObject({ state: 'rotated', old_key_left: false })
  expect(await works()).toBe('1300\n')
  const [, entry] = await audit()
  expect(entry?.details).toMatchObject({ fingerprint_before: expect.stringMatching(/^SHA256:/) })
})

test('the password is forgotten where sudo does not need it, and the key alone works', async () => {
  const { rotated, shown, works, audit, user } = await start()

  await rotated({ drop_password: true })

  user.password = 'another'
  expect(await shown()).toMatchObject({ ssh_password_set: false, ssh_key_set: true })
  expect(await works()).toBe('1300\n')
  expect((await audit())[0]?.details).toMatchObject({ password: 'forgotten' })
})

test('a password that sudo needs is not forgotten: the rule is told, and nothing changes', async () => {
  const { send, shown, user, audit } = await start({}, 'password')

  const { error } = await refused(await send({ drop_password: true }), 409, 'sudo_wants_password')

  expect(error).toContain('svc ALL=(root) NOPASSWD: /usr/sbin/ops-panel-host')
  expect(await shown()).toMatchObject({ ssh_password_set: true, ssh_key_set: false })
  expect(user.authorizedKeys).toBe(OTHER)
  expect(await audit()).toEqual([])
})

test('an account that cannot write its keys gets the line to add; once it is there, a second call confirms', async () => {
  const { rotated, send, shown, user, works, audit } = await start({ keysAreForeign: true })

  const waiting = await rotated()

  expect(waiting.state).toBe('waiting')
  expect(waiting.message).toContain('svc n’a pas pu ajouter la nouvelle clé lui-même : son fichier authorized_keys')
  expect(await shown()).toMatchObject({ ssh_key_set: false, ssh_key_next_set: true })
  await refused(await send({ confirmed: true }), 409, 'ssh_key_refused')
  expect(await works()).toBe('1300\n')
  expect(await audit()).toEqual([])
  expect((await rotated()).authorized_key).toBe(waiting.authorized_key)

  user.authorizedKeys = `${OTHER}${waiting.authorized_key}\n`
  expect(await rotated({ confirmed: true })).toMatchObject({ state: 'rotated', ssh_public_key: waiting.ssh_public_key })
  expect(await shown()).toMatchObject({ ssh_key_set: true, ssh_key_next_set: false })
})

test('an old line that the account cannot remove is told and remembered, and removed by the next rotation', async () => {
  const { rotated, shown, user } = await start()
  const first = await rotated()
  user.keysAreForeign = true
  const waiting = await rotated()
  user.authorizedKeys = `${user.authorizedKeys}${waiting.authorized_key}\n`

  const second = await rotated({ confirmed: true })

  expect(second).toMatchObject({ state: 'rotated', old_key_left: true })
  expect(second.message).toContain(`retirez de ses clés ${first.ssh_public_key}`)
  expect(await shown()).toMatchObject({ ssh_key_retired: first.ssh_public_key })
  user.keysAreForeign = false
  const third = await rotated()
  expect(third.old_key_left).toBe(false)
  expect(await shown()).toMatchObject({ ssh_key_retired: '' })
  expect(user.authorizedKeys).toBe(`${OTHER}${third.authorized_key}\n`)
})

test('a former key stays told as long as the host accepts it, whoever can change its line', async () => {
  const { rotated, services, shown, user } = await start({ keysAreForeign: true })
  const [accepted, refusedOne] = [newSshKey(), newSshKey()]
  await services.settings.setRetiredSshKeys([accepted.publicKey, refusedOne.publicKey])
  const { authorized_key } = await rotated()
  user.authorizedKeys = `${authorizedLine(accepted)}\n${authorized_key}\n`

  expect(await rotated({ confirmed: true })).toMatchObject({ state: 'rotated', old_key_left: true })

  expect(await shown()).toMatchObject({ ssh_key_retired: accepted.publicKey })
})

test('a host that refuses the added key: its line is removed again, and the account stays as it was', async () => {
  const { rotated, shown, user, works, audit } = await start({ keysAreElsewhere: true })

  const answer = await rotated()

  expect(answer.state).toBe('waiting')
  expect(answer.message).toContain('AuthorizedKeysFile')
  expect(user.authorizedKeys).toBe(OTHER)
  expect(await shown()).toMatchObject({ ssh_key_set: false, ssh_key_next_set: true })
  expect(await works()).toBe('1300\n')
  expect(await audit()).toEqual([])
})

test('a rotation that was cut off after its line was added goes on with the same key', async () => {
  const { rotated, user, services } = await start()
  const waiting = await services.settings.nextSshKey()
  user.authorizedKeys = `${OTHER}${authorizedLine(waiting)}\n`

  expect(await rotated()).toMatchObject({ state: 'rotated', ssh_public_key: waiting.publicKey })

  expect(user.authorizedKeys).toBe(`${OTHER}${authorizedLine(waiting)}\n`)
})

test('the lines of rotations that were killed before they removed one go with the next, however many they are', async () => {
  const { rotated, user, services, host, tokenFor, works } = await start()
  const killed: typeof host = {
    ...host,
    exec: (command, options) =>
      JSON.stringify(command).includes('"remove"') ? Promise.reject(new Error('killed')) : host.exec(command, options),
  }
  const settings = { ...services.settings, setRetiredSshKeys: () => Promise.reject(new Error('killed')) }
  const { request } = mount([rotate], { ...services, host: killed, settings })
  const foreign = user.authorizedKeys ?? ''
  await rotated()
  for (let n = 0; n < 7; n += 1) {
    const headers = { authorization: `Bearer ${await tokenFor('admin')}` }
    expect((await request(PATH, { method: 'POST', headers, body: '{}' })).status).toBe(500)
  }
  expect(user.authorizedKeys?.split('\n')).toHaveLength(1 + 8 + 1)

  const last = await rotated()

  expect(last).toMatchObject({ state: 'rotated', old_key_left: false })
  expect(user.authorizedKeys).toBe(`${foreign}${last.authorized_key}\n`)
  expect(await works()).toBe('1300\n')
})

test('two rotations at once end with one key that works', async () => {
  const { send, shown, user, works } = await start()

  const answers = await Promise.all([send(), send()])

  for (const { status } of answers) expect([200, 409]).toContain(status)
  expect(answers.some(({ status }) => status === 200)).toBe(true)
  const { ssh_public_key } = await shown()
  expect(user.authorizedKeys).toContain(String(ssh_public_key))
  expect(await works()).toBe('1300\n')
})

test('an audit entry that cannot be written leaves the old key in use', async () => {
  const { send, db, shown, works } = await start()
  await db.script(`CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT raise(ABORT, 'refused'); END`)

  expect((await send()).status).toBeGreaterThanOrEqual(500)

  expect(await shown()).toMatchObject({ ssh_key_set: false, ssh_key_next_set: true })
  expect(await works()).toBe('1300\n')
})

test('a host that does not answer changes nothing', async () => {
  const { send, shown, demo, audit } = await start()
  demo.accepting = false

  await refused(await send(), 502, 'ssh_failed')

  expect(await shown()).toMatchObject({ ssh_key_set: false })
  expect(await audit()).toEqual([])
})

test('confirming without a waiting key is refused', async () => {
  const { send, demo } = await start()

  await refused(await send({ confirmed: true }), 409, 'ssh_key_none_waiting')

  expect(demo.connections).toBe(0)
})

test.each(['ssh_key', 'ssh_key_next', 'ssh_key_retired'])('no request sets %s', async (name) => {
  const { patch, stored } = await start()
  const before = await stored()

  await refused(await patch({ [name]: newSshKey().privateKey }), 400, 'invalid_request')

  expect(await stored()).toEqual(before)
})
