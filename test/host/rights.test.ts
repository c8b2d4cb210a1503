import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openTerminal } from '../terminal-client.ts'
import { auditEntries } from './audit.ts'
import { type Caller, caller, login, refresh, signedIn, signIn } from './client.ts'
import { forgeAdministrator, inside, PASSWORDS, rig } from './rig.ts'
import { commandLine, type Service, startService } from './service.ts'
import { ownWord } from './stored.ts'

/** The service’s limits of concurrent reading commands: per user, and of users at once. */
const [PER_USER, USERS] = [8, 8]
const LIMIT = PER_USER * USERS

let service: Service
let root: Caller
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  root = await signIn(service, 'root')
  return () => service.stop()
})

const at = ({ service: { url }, token }: Caller) => ({ url, token })
const Token = z.object({ access_token: z.string() })
const Me = z.object({ is_admin: z.boolean() })

/** Returns the caller with a new token of the same session. */
async function refreshed({ cookie }: Caller): Promise<Caller> {
  return caller(service, Token.parse((await refresh(service, cookie)).body).access_token, cookie)
}

const isAdmin = async (who: Caller) => Me.parse((await who.get('/api/auth/me')).body).is_admin

/** Makes an administrator's account of this name and signs in with it. */
async function newAdministrator(name: string): Promise<Caller> {
  await inside('host', `useradd -m -s /bin/bash -G sudo ${name}; echo '${name}:${PASSWORDS.alice}' | chpasswd`)
  const { body, headers } = await login(service, name, PASSWORDS.alice)
  const who = caller(service, Token.parse(body).access_token, headers.getSetCookie()[0]?.split(';')[0] ?? '')
  expect(await isAdmin(who)).toBe(true)
  return who
}

/** Makes ordinary accounts and signs in with them. */
async function crowd(): Promise<Caller[]> {
  const names = Array.from({ length: USERS }, (_, at) => `crowd-${at}`)
  await inside(
    'host',
    `for name in ${names.join(' ')}; do useradd -m $name; echo "$name:${PASSWORDS.bob}" | chpasswd; done`,
  )
  return Promise.all(names.map(async (name) => signedIn(service, await login(service, name, PASSWORDS.bob))))
}

const ended = (name: string) => auditEntries(root, `action=account_ended&limit=1&user=${name}`)

test('a user who leaves the group loses the rights at the next refresh, and the terminal at its renewal', async () => {
  const admin = await newAdministrator('carol')
  const terminal = await openTerminal(at(admin), 'host')

  await inside('host', 'gpasswd -d carol sudo')

  const again = await refreshed(admin)
  expect(await isAdmin(again)).toBe(false)
  expect((await again.get('/api/settings')).status).toBe(403)
  terminal.tell({ type: 'auth', token: again.token })
  expect(await terminal.closed).toMatchObject({ code: 4403 })
})

test.each([
  ['deleted', 'userdel -f', 'user_missing', 'gone'],
  ['locked', 'usermod -L', 'session_ended', 'locked'],
  ['expired', 'chage -E 2020-01-01', 'session_ended', 'expired'],
])('an account that is %s loses its session and sockets at its next refresh', async (how, command, code, reason) => {
  const name = `dave-${how}`
  const admin = await newAdministrator(name)
  const terminal = await openTerminal(at(admin), 'lxc:101')

  await inside('host', `${command} ${name}`)

  expect(await refresh(service, admin.cookie)).toMatchObject({ status: 401, body: { code } })
  expect(await terminal.closed).toMatchObject({ code: 4401 })
  expect((await admin.get('/api/auth/me')).status).toBe(401)
  expect(await refresh(service, admin.cookie)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
  expect(await ended(name)).toMatchObject([{ username: name, target: name, details: { reason } }])
})

test('neither many slow requests nor forged start-up files give a removed administrator the rights back', async () => {
  const [removed, users] = [await newAdministrator('erin'), await crowd()]
  await forgeAdministrator('erin')
  await inside(
    'host',
    `gpasswd -d erin sudo
    mv /usr/bin/apt /usr/bin/apt.rig; printf '#!/bin/sh\\nexec sleep 600\\n' >/usr/bin/apt; chmod 755 /usr/bin/apt`,
  )
  const slow = users.flatMap((user) =>
    Array.from({ length: PER_USER + 1 }, () => user.get('/api/updates/packages?target=host')),
  )
  const sleeping = async () => Number(await inside('host', 'pgrep -cx sleep || true'))
  await expect.poll(sleeping, { timeout: 20_000 }).toBeGreaterThanOrEqual(LIMIT)

  const [there, gone] = [await login(service, 'root', PASSWORDS.root), await login(service, 'erin', PASSWORDS.alice)]
  const again = [await isAdmin(await refreshed(root)), await isAdmin(await refreshed(removed))]
  const still = await sleeping()

  await inside('host', 'mv /usr/bin/apt.rig /usr/bin/apt; pkill -x sleep')
  await Promise.all(slow)
  expect(still).toBeGreaterThanOrEqual(LIMIT)
  expect(there.body).toMatchObject({ user: { username: 'root', is_admin: true } })
  expect(gone.body).toMatchObject({ user: { username: 'erin', is_admin: false } })
  expect(await ownWord(service.folder, 'erin')).toBe('administrator')
  expect(again).toEqual([true, false])
})

test('nobody is an administrator while the service account cannot sign in, until the console corrects it', async () => {
  const frank = await newAdministrator('frank')
  await commandLine(service, 'settings', 'set', 'ssh_username', 'nobody-here')

  const during = [
    (await login(service, 'frank', PASSWORDS.alice)).body,
    { user: { is_admin: await isAdmin(await refreshed(frank)) } },
  ]
  await commandLine(service, 'settings', 'set', 'ssh_username', 'root')
  const after = await isAdmin(await refreshed(frank))

  for (const answer of during) expect(answer).toMatchObject({ user: { is_admin: false } })
  expect(after).toBe(true)
})
