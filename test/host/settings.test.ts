import { randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { writeSettings } from '../../db/settings.ts'
import { freePort } from '../free-port.ts'
import { randomOf, seedOf } from '../rounds.ts'
import { startRecordingHost } from '../functions/install/recording-host.ts'
import { canary, password } from '../property/canaries.ts'
import { auditEntries } from './audit.ts'
import { type Answer, askPackages, type Caller, caller, login, packages, refresh, signedIn } from './client.ts'
import { hostFingerprint, inside, newPasswords, rig, SSH_HOST } from './rig.ts'
import { commandLine, newFolder, type Service, startService } from './service.ts'
import { leaks, storedSettings } from './stored.ts'

const ACCOUNTS = ['root', 'alice', 'bob', 'ops'] as const
const WRONG_KEY = `SHA256:${'A'.repeat(43)}`
const WRONG_PASSWORD = randomBytes(18).toString('base64url')
const OTHER_PASSWORD = randomBytes(18).toString('base64url')
const TOKENS = [`panel@pve!first=${randomUUID()}`, `panel@pve!second=${randomUUID()}`] as const
const ROUNDS = 10

let folder: string
let service: Service
/** Every service that was started on the folder. */
const services: Service[] = []
let passwordOf: (account: (typeof ACCOUNTS)[number]) => string
/** An administrator. */
let alice: Caller

beforeAll(async () => {
  await rig('reset')
  passwordOf = await newPasswords(...ACCOUNTS)
  folder = await newFolder()
  service = await start({ PANEL_SSH_PASSWORD: passwordOf('root') }, 'root')
  alice = await signedInAs('alice')
})
// Restores the host's passwords.
afterAll(async () => {
  await Promise.all(services.map((each) => each.kill()))
  await rm(folder, { recursive: true, force: true })
  await rig('reset')
})

describe('changed settings', () => {
  // Restores working settings even after a failed test.
  afterEach(mend)

  test('another service account works at once, over its own connections', async () => {
    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
    expect(await accepted('ops')).toBe(0)

    expect(await change({ ssh_username: 'ops', ssh_password: passwordOf('ops') })).toEqual(SAVED)

    const roots = await accepted('root')
    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
    expect(await accepted('ops')).toBeGreaterThan(0)
    expect(await accepted('root')).toBe(roots)
    await expect.poll(() => service.log()).toContain('"username":"ops","elevation":"rule"')
    await expect.poll(() => inside('host', 'pgrep -cf "^sshd: root" || true'), { timeout: 5_000 }).toBe('0')
  })

  test('a wrong password fails at once, and the right one works at once', async () => {
    await change({ ssh_password: WRONG_PASSWORD })
    const refused = await askPackages(alice, 'lxc:101')
    await change({ ssh_password: passwordOf('ops') })
    const mended = await askPackages(alice, 'lxc:101')

    expect(refused.body).toEqual({ error: expect.stringMatching(/^Erreur SSH : .+/), code: 'ssh_failed' })
    expect(refused.status).toBe(502)
    expect(mended.body).toHaveLength(5)
    expect(mended.ms).toBeLessThan(5_000)
  })

  test('an empty password changes nothing, and an unknown or invalid setting rejects the whole request', async () => {
    const before = await storedSettings(folder)

    expect(await change({ ssh_password: '' })).toEqual({ message: 'Aucun réglage n’a changé.' })
    expect(await alice.patch('/api/settings', { ssh_username: 'bob', ssh_pasword: 'x' })).toMatchObject({ status: 400 })
    expect(await alice.patch('/api/settings', { ssh_username: 'bob', ssh_host: 'a b' })).toMatchObject({ status: 400 })

    expect(await storedSettings(folder)).toEqual(before)
    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
  })

  test('a user who is not an administrator can neither read nor change settings', async () => {
    const before = await storedSettings(folder)
    const bob = await signedInAs('bob')

    expect(await bob.patch('/api/settings', { ssh_username: 'bob' })).toMatchObject({ status: 403 })
    expect(await bob.get('/api/settings')).toMatchObject({ status: 403 })
    expect(await bob.post('/api/settings/host-key', { ssh_host: SSH_HOST })).toMatchObject({ status: 403 })
    const body = { dashboard_shortcuts: shortcuts('everybody') }
    expect(await bob.put('/api/settings/public', body)).toMatchObject({ status: 403 })

    expect(await storedSettings(folder)).toEqual(before)
  })

  test('logins fail with a closed port of the host, and succeed again with the right port', async () => {
    await change({ ssh_host: `127.0.0.1:${await freePort()}`, ssh_host_key: await hostKey() })
    const refused = await signingIn('bob')
    const failed = await askPackages(alice, 'host')
    // No host can check the password there, so only the console can change the settings back.
    const back = { ssh_host: SSH_HOST, ssh_host_key: await hostKey(), current_password: passwordOf('alice') }
    const unproven = await alice.patch('/api/settings', back)
    await atConsole('ssh_host', SSH_HOST)
    const mended = await signingIn('bob')

    expect(refused).toMatchObject({ status: 401, body: { code: 'ssh_unreachable' } })
    expect(failed).toMatchObject({ status: 502, body: { code: 'ssh_failed' } })
    expect(unproven).toMatchObject({ status: 503, body: { code: 'proof_impossible' } })
    expect(mended.status).toBe(200)
    expect(await packages(alice, 'host')).toHaveLength(5)
    expect(await storedSettings(folder)).toMatchObject({
      ssh_host: SSH_HOST,
      ssh_host_key: `ssh-ed25519 ${await hostFingerprint()}`,
    })
  })

  test('a wrong fingerprint refuses every login, with an audit entry, until the console corrects it', async () => {
    await change({ ssh_host_key: WRONG_KEY })
    const refused = await signingIn('bob')
    const failed = await askPackages(alice, 'host')
    const told = [...(await audit('host_key_changed')), ...(await audit('login_failed'))]
    await atConsole('ssh_host_key', await hostFingerprint())
    const mended = await signingIn('bob')

    expect(refused).toMatchObject({ status: 401, body: { code: 'host_key_changed' } })
    expect(failed).toMatchObject({ status: 502, body: { code: 'ssh_failed' } })
    const detail = expect.stringContaining(await hostFingerprint())
    expect(told).toContainEqual(
      expect.objectContaining({ action: 'host_key_changed', details: expect.objectContaining({ error: detail }) }),
    )
    expect(told).toContainEqual(
      expect.objectContaining({
        action: 'login_failed',
        username: 'bob',
        details: { reason: 'host_key_changed', error: detail },
      }),
    )
    expect(mended.status).toBe(200)
    expect(await packages(alice, 'host')).toHaveLength(5)
  })

  test('a new host gets no password before an administrator confirms its key with their own', async () => {
    const evil = await startRecordingHost()
    const ssh_host = evil.address
    const before = await storedSettings(folder)
    const refusal = async (body: object) =>
      Object((await alice.patch('/api/settings', { ssh_host, ...body })).body).code

    const shown = await alice.post('/api/settings/host-key', { ssh_host })
    const { ssh_host_key } = HostKey.parse(shown.body)

    const own = { current_password: passwordOf('alice') }
    expect(await refusal({ ssh_host_key: '' })).toBe('host_key_required')
    expect(await refusal({ ssh_host_key: '', ...own })).toBe('host_key_required')
    expect(await refusal({})).toBe('host_key_required')
    expect(await refusal({ ssh_host_key })).toBe('proof_required')
    expect(await refusal({ ssh_host_key, current_password: WRONG_PASSWORD })).toBe('proof_wrong')
    expect(await alice.patch('/api/settings', { ssh_host_key })).toMatchObject({ body: { code: 'proof_required' } })
    expect(await packages(alice, 'host')).toHaveLength(5)
    // Only the key exchange for the fingerprint: no name and no password.
    expect([evil.connections(), evil.shown]).toEqual([1, []])
    expect(await storedSettings(folder)).toEqual(before)
    expect((await audit('proof_refused'))[0]).toMatchObject({
      username: 'alice',
      details: { reason: 'bad_credentials' },
    })

    await change({ ssh_host, ssh_host_key })
    await expect.poll(() => evil.shown.map(({ password: shownPassword }) => shownPassword)).toContain(passwordOf('ops'))
    expect((await audit('settings_changed'))[0]).toMatchObject({
      details: { ssh_host_before: SSH_HOST, ssh_host_after: ssh_host, ssh_host_key_after: ssh_host_key },
    })
  })

  test('a host with another key than the confirmed one gets no password', async () => {
    const evil = await startRecordingHost()
    await change({ ssh_host: evil.address, ssh_host_key: await hostKey() })

    expect((await signingIn('bob')).body).toMatchObject({ code: 'host_key_changed' })
    expect((await askPackages(alice, 'host')).status).toBe(502)
    expect(evil.shown).toEqual([])
  })

  test('the key of a previous host that answers late is not pinned for the new one', async () => {
    const db = await openDatabase(`file:${folder}/panel.db`)
    onTestFinished(() => db.close())
    // As the console does; only it can clear a key.
    const write = (ssh_host: string) => writeSettings(db, { ssh_host, ssh_host_key: '' }, new Date().toISOString())
    const port = await freePort()
    for (let round = 0; round < 3; round++) {
      // The service pins the first key that it sees; the host changes before that key arrives.
      await write(SSH_HOST.replace('127.0.0.1', 'localhost'))
      const asked = askPackages(alice, 'host')
      await write(`127.0.0.1:${port}`)
      await asked
      expect((await storedSettings(folder)).ssh_host_key).toBe('')
    }
  })
})

describe('concurrent changes at two services that share their data', () => {
  test('have the same result as one after the other', async () => {
    const other = await start()
    onTestFinished(() => other.stop())
    const there = caller(other, alice.token, alice.cookie)
    const [few, many] = [shortcuts('few'), shortcuts('many')]
    const before = { hypervisor_url: 'https://one.example:8006', dashboard_shortcuts: few }
    const pairs = [
      { ...before, hypervisor_url: 'https://other.example:8006' },
      { ...before, dashboard_shortcuts: many },
    ] as const
    for (let round = 0; round < 20; round++) {
      await change(before)
      await Promise.all([change(pairs[0]), change(pairs[1], there)])
      const { hypervisor_url, dashboard_shortcuts } = await storedSettings(folder)
      expect(pairs).toContainEqual({ hypervisor_url, dashboard_shortcuts })
    }
  })
})

describe('the audit log', () => {
  test('has the user, the changed settings and their old and new values, but only the names of secrets', async () => {
    await change({ hypervisor_url: 'https://audited.example:8006', hypervisor_token: TOKENS[0], ssh_username: 'ops' })

    const entries = await audit('settings_changed')

    expect(entries[0]).toEqual({
      action: 'settings_changed',
      username: 'alice',
      target: null,
      details: {
        keys: 'hypervisor_url, hypervisor_token',
        hypervisor_url_before: expect.stringMatching(/^https:/),
        hypervisor_url_after: 'https://audited.example:8006',
      },
    })
    const keys = entries.flatMap(({ details }) => String(details?.keys).split(', '))
    expect(keys).toEqual(keys.map(() => expect.stringMatching(/^(ssh|hypervisor|dashboard)_[a-z_]+$/)))
    expect(keys).toContain('ssh_password')
    const noted = entries.flatMap(({ details }) => Object.keys(details ?? {}))
    expect(noted.filter((name) => /^(ssh_password|hypervisor_token)/.test(name))).toEqual([])
  })
})

describe('with another PANEL_SECRET_KEY', () => {
  let bob: Caller
  beforeAll(async () => {
    await mend()
    bob = await signedInAs('bob')
    await service.stop()
    service = await start({ PANEL_SECRET_KEY: randomBytes(32).toString('base64') })
    alice = caller(service, alice.token, alice.cookie)
  })

  test('users can sign in, and old sessions go on', async () => {
    expect((await signingIn('bob')).status).toBe(200)
    expect((await refresh(service, bob.cookie)).status).toBe(200)
    expect((await caller(service, bob.token, bob.cookie).get('/api/auth/me')).status).toBe(200)
  })

  test('packages and jobs report that the password cannot be decrypted, and the log says what to do', async () => {
    for (const { status, body } of [
      await askPackages(alice, 'host'),
      await alice.post('/api/updates/run', { target: 'host' }),
    ]) {
      expect(body).toEqual({
        error:
          'Le mot de passe ou la clé SSH enregistrés ne peuvent pas être déchiffrés. Enregistrez l’un des deux à nouveau (« ops-panel settings set ssh_password » ou « ssh_key » sur la console du service).',
        code: 'ssh_password_unreadable',
      })
      expect(status).toBe(503)
    }
    expect(service.log()).toMatch(/PANEL_SECRET_KEY or secret\.key .+ set it anew/)
    expect((await alice.get('/api/updates/history')).body).toBeNull()
  })

  test('entering the same password again solves it at once', async () => {
    await change({ ssh_password: passwordOf('ops') })

    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
  })

  test('sessions from that time go on with the previous key', async () => {
    const during = await signedInAs('bob')
    await service.stop()
    service = await start()
    alice = caller(service, alice.token, alice.cookie)

    expect((await caller(service, during.token, during.cookie).get('/api/auth/me')).status).toBe(200)
    expect((await refresh(service, during.cookie)).status).toBe(200)
    expect(await askPackages(alice, 'host')).toMatchObject({ status: 503, body: { code: 'ssh_password_unreadable' } })
  })
})

describe('a service that is killed while settings are written', () => {
  // The settings that can be changed without the administrator's own password.
  const sets = [
    {
      ssh_username: 'first',
      ssh_password: WRONG_PASSWORD,
      hypervisor_url: 'https://first.example:8006',
      hypervisor_token: TOKENS[0],
      hypervisor_fingerprint: Array(32).fill('AA').join(':'),
      dashboard_shortcuts: shortcuts('first'),
    },
    {
      ssh_username: 'second',
      ssh_password: OTHER_PASSWORD,
      hypervisor_url: 'https://second.example:8006',
      hypervisor_token: TOKENS[1],
      hypervisor_fingerprint: Array(32).fill('BB').join(':'),
      dashboard_shortcuts: shortcuts('second'),
    },
  ]

  test(`has one complete set of them or the other, ${ROUNDS} times`, async () => {
    const random = randomOf(seedOf('test/host/settings.test.ts', 'host'))
    const found = new Set<string>()
    let written = 0
    expect((await alice.patch('/api/settings', sets[1])).status).toBe(200)
    for (let round = 0; round < ROUNDS; round++) {
      let refused: unknown
      const before = written
      const write = async () => {
        for (let n = round; ; n++) {
          const { status, body } = await alice.patch('/api/settings', sets[n % 2])
          if (status !== 200) refused ??= body
          written += 1
        }
      }
      const cut = expect(write()).rejects.toThrow('fetch failed')
      // Also in the first write, and after several, however slow this machine is.
      const most = before + random.between(0, 6)
      await expect.poll(() => written, { timeout: 30_000, interval: 1 }).toBeGreaterThanOrEqual(most)
      await pause(random.between(0, 250))
      await service.kill()
      await cut
      expect(refused).toBeUndefined()

      service = await start()
      alice = caller(service, alice.token, alice.cookie)
      const stored = await storedSettings(folder)
      const { ssh_host, ssh_host_key, checks_automatic, ...set } = stored
      expect(sets).toContainEqual(set)
      expect(checks_automatic).toBe('off')
      expect({ ssh_host, ssh_host_key }).toEqual({ ssh_host: SSH_HOST, ssh_host_key: await hostKey() })
      const { ssh_password, hypervisor_token, ...plain } = stored
      expect(await alice.get('/api/settings')).toMatchObject({
        status: 200,
        body: { ...plain, ssh_password_set: true, hypervisor_token_set: true },
      })
      found.add(stored.ssh_username ?? '')
    }
    console.log(`${written} changes were made, and ${ROUNDS} cut; found: ${[...found].join(', ')}`)
    expect(written).toBeGreaterThan(2 * ROUNDS)
  })
})

test('no password and no hypervisor token is in the database, the log or any answer', async () => {
  const secrets = [
    ...ACCOUNTS.map((account) => password(account, passwordOf(account))),
    password('wrong password', WRONG_PASSWORD),
    password('other password', OTHER_PASSWORD),
    ...TOKENS.flatMap((token) => [canary(token, token), canary(`secret of ${token}`, token.split('=')[1] ?? '')]),
  ]

  await alice.get('/api/settings/logs')

  const logs = services.map((each) => each.log()).join('\n')
  expect(await leaks(folder, logs, secrets)).toEqual([])
  // Nor is the length of any in the log.
  expect(logs).not.toMatch(/\d+ caractères/)
})

const HostKey = z.object({ ssh_host_key: z.string() })
const SAVED = { message: 'Réglages enregistrés.' }

async function start(env: Record<string, string> = {}, as: 'root' | null = null): Promise<Service> {
  const started = await startService({ as, folder, env })
  services.push(started)
  return started
}

function signingIn(account: (typeof ACCOUNTS)[number]): Promise<Answer> {
  return login(service, account, passwordOf(account))
}

async function signedInAs(account: (typeof ACCOUNTS)[number]): Promise<Caller> {
  return signedIn(service, await signingIn(account))
}

/** Changes settings as an administrator, with their own password; returns the answer's body. */
async function change(values: Record<string, string>, by: Caller = alice): Promise<unknown> {
  const { status, body } = await by.patch('/api/settings', { ...values, current_password: passwordOf('alice') })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Changes a setting at the console, which asks for no password. */
async function atConsole(name: string, value: string): Promise<void> {
  await commandLine(service, 'settings', 'set', name, value)
}

/** Returns the host's key in the form in which it is pinned. */
async function hostKey(): Promise<string> {
  return `ssh-ed25519 ${await hostFingerprint()}`
}

/** Restores working settings. */
async function mend(): Promise<void> {
  const { ssh_host, ssh_host_key } = await storedSettings(folder)
  const key = await hostKey()
  if (ssh_host !== SSH_HOST) await atConsole('ssh_host', SSH_HOST)
  if (ssh_host_key !== key) await atConsole('ssh_host_key', key)
  await change({ ssh_username: 'ops', ssh_password: passwordOf('ops') })
}

/** Returns how often sshd has accepted an account. */
async function accepted(account: string): Promise<number> {
  return (await rig('log')).split(`Accepted password for ${account} `).length - 1
}

function shortcuts(label: string): string {
  return JSON.stringify([{ label, href: `/${label}` }])
}

async function audit(action: string) {
  return auditEntries(alice, `action=${action}`)
}
