import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { openTerminal, WAIT } from '../terminal-client.ts'
import { auditEntries } from './audit.ts'
import { type Caller, caller, login, refresh, signIn } from './client.ts'
import { inside, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

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
const People = z.object({ users: z.array(z.object({ id: z.number(), username: z.string(), role: z.string() })) })

/** Makes an administrator's account of this name and signs in with it. */
async function newAdministrator(name: string): Promise<Caller> {
  await inside('host', `useradd -m -s /bin/bash -G sudo ${name}; echo '${name}:${PASSWORDS.alice}' | chpasswd`)
  const { body, headers } = await login(service, name, PASSWORDS.alice)
  return caller(service, Token.parse(body).access_token, headers.getSetCookie()[0]?.split(';')[0] ?? '')
}

/** Lets nine minutes pass for all accounts, and then the first run of the tasks of another instance. */
async function laterElsewhere(): Promise<Service> {
  const db = await openDatabase(service.database)
  const before = new Date(Date.now() - 9 * 60_000).toISOString()
  await db.run('UPDATE users SET rights_at = ? WHERE rights_at IS NOT NULL', [before])
  await db.close()
  return startService({ beside: service })
}

const person = async (name: string) =>
  People.parse((await root.get('/api/auth/users')).body).users.find(({ username }) => username === name)
const ended = (name: string) => auditEntries(root, `action=account_ended&limit=1&user=${name}`)

test('accounts that end on the host are out on every instance, with their terminals, though nobody renews a token', async () => {
  const how = { deleted: 'userdel -f', locked: 'usermod -L', expired: 'chage -E 2020-01-01' } as const
  const reasons = { deleted: 'gone', locked: 'locked', expired: 'expired' } as const
  const names = ['deleted', 'locked', 'expired'] as const
  const people = await Promise.all(
    names.map(async (name) => {
      const who = await newAdministrator(`gina-${name}`)
      return { name, who, terminal: await openTerminal(at(who), 'host') }
    }),
  )
  for (const { name } of people) await inside('host', `${how[name]} gina-${name}`)

  const other = await laterElsewhere()

  for (const { name, who, terminal } of people) {
    expect(await terminal.closed).toMatchObject({ code: 4401 })
    // Either instance may have asked; the other one reads it within a minute.
    for (const each of [service, other]) {
      const there = caller(each, who.token, who.cookie)
      await expect.poll(async () => (await there.get('/api/auth/me')).status, WAIT).toBe(401)
    }
    expect(await refresh(service, who.cookie)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
    expect(await ended(`gina-${name}`)).toMatchObject([{ details: { reason: reasons[name] } }])
  }
  expect((await root.get('/api/auth/me')).status).toBe(200)
  await other.stop()
})

test('a person who leaves the group has the new role everywhere from the next renewal on', async () => {
  const admin = await newAdministrator('hugo')
  expect(await person('hugo')).toMatchObject({ role: 'admin' })
  await inside('host', 'gpasswd -d hugo sudo')

  const other = await laterElsewhere()

  await expect.poll(() => person('hugo'), WAIT).toMatchObject({ role: 'operator' })
  const { body } = await refresh(other, admin.cookie)
  const again = caller(service, Token.parse(body).access_token, admin.cookie)
  expect((await again.get('/api/auth/users')).status).toBe(403)
  await other.stop()
})

test('an administrator ends a terminal of another person at once, and bars the account', async () => {
  const who = await newAdministrator('iris')
  const terminal = await openTerminal(at(who), 'lxc:101')
  const { id } = (await person('iris')) ?? { id: 0 }

  expect((await root.delete(`/api/auth/users/${id}/sessions`)).status).toBe(200)
  expect(await terminal.closed).toMatchObject({ code: 4401 })
  expect((await login(service, 'iris', PASSWORDS.alice)).status).toBe(200)

  expect((await root.put(`/api/auth/users/${id}/bar`, {})).status).toBe(200)
  expect(await login(service, 'iris', PASSWORDS.alice)).toMatchObject({ status: 403, body: { code: 'account_barred' } })
})
