import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect, type SshError } from '../../ssh/connection.ts'
import { ask, freshAddress, login, signedIn, signIn } from './client.ts'
import { debian13, type OtherRig, PASSWORDS } from './rig.ts'
import { commandLine, type Service, startService } from './service.ts'

/** The longest check of a correct password, which may wait for some wrong ones before it. */
const RIGHT_MS = 10_000
/** One more concurrent wrong password than sshd tolerates. */
const TOO_MANY = 4

let host: OtherRig
let service: Service
/** A service that is not installed. */
let fresh: Service
beforeAll(async () => {
  host = await debian13()
  ;[service, fresh] = await Promise.all([start(), startService({ as: null })])
}, 300_000)
afterAll(async () => {
  await Promise.all([service?.stop(), fresh?.stop()])
  await host?.rig('down')
})

const start = (): Promise<Service> => startService({ env: { PANEL_SSH_HOST: host.sshHost } })

/** Tries a wrong password; returns the status of the answer, or undefined when the signal aborts before. */
async function wrongOne(username: string, signal: AbortSignal): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': freshAddress() }
  const body = JSON.stringify({ username, password: 'wrong' })
  try {
    return (await fetch(`${service.url}/api/auth/login`, { method: 'POST', headers, body, signal })).status
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

const sshdLog = () => host.rig('log')

/** Sends wrong passwords to sshd without the service, from the service's address, until sshd rejects it. */
async function provoke(): Promise<void> {
  const [name = '', port] = host.sshHost.split(':')
  const account = { address: '', host: name, port: Number(port), username: 'bob', password: 'wrong', hostKey: '' }
  const tried = () => connect(account).then(undefined, ({ reason }: SshError) => reason)
  expect(await Promise.all(Array.from({ length: TOO_MANY }, tried))).toEqual(Array(TOO_MANY).fill('bad_credentials'))
  await expect.poll(tried, { timeout: 10_000 }).toBe('throttled')
}

/** Makes sshd reload its configuration, which also clears its penalties. */
async function reload(): Promise<void> {
  await host.rig('in', 'host', 'pkill', '-HUP', '-x', 'sshd')
  await expect.poll(() => host.rig('status'), { timeout: 10_000 }).toContain('sshd answers')
}

describe('an sshd that rejects addresses after wrong passwords', () => {
  test('does not reject the service: many wrong passwords keep out no correct one', async () => {
    const home = freshAddress()
    expect((await login(service, 'bob', PASSWORDS.bob, home)).status).toBe(200)
    const leaving = new AbortController()
    const wrong = Array.from({ length: 2 * TOO_MANY }, (_, n) => wrongOne(`victim${n}`, leaving.signal))

    // Within these pauses sshd would turn the address away.
    for (let n = 0; n < 4; n += 1) {
      await pause(1_500)
      const { status, ms } = await login(service, 'bob', PASSWORDS.bob, home)
      expect(status).toBe(200)
      expect(ms).toBeLessThan(RIGHT_MS)
    }

    leaving.abort()
    const answers = (await Promise.all(wrong)).filter((status) => status !== undefined)
    expect(answers.length).toBeGreaterThanOrEqual(2)
    expect(answers).toEqual(answers.map(() => 401))
    expect(await sshdLog()).toContain('Failed password')
    expect(await sshdLog()).not.toContain('drop connection')
  })

  test('is reported by doctor and the wizard, and the configuration line that they name solves it', async () => {
    const before = await commandLine(service, 'doctor')
    const [, line = ''] = /^• .*« (PerSourcePenaltyExemptList 127\.0\.0\.1) »/m.exec(before) ?? []

    expect(before).toContain('sshd (OpenSSH 10.0')
    expect(line).not.toBe('')
    expect(await wizardCheck('root')).toMatchObject({ ok: false, message: expect.stringContaining(line) })
    expect(await wizardCheck('alice')).toMatchObject({ ok: false, message: expect.stringContaining(line) })
    expect(await wizardCheck('ops')).toMatchObject({
      ok: false,
      message: expect.stringMatching(new RegExp(`ops n’a pas le droit de lire .*${line}`)),
    })

    await host.rig('in', 'host', 'sh', '-c', `echo '${line}' >/etc/ssh/sshd_config.d/panel.conf`)
    await reload()
    expect(await commandLine(service, 'doctor')).toMatch(/^✓ sshd ne bloque jamais ce service/m)
    expect(await wizardCheck('root')).toMatchObject({ ok: true })
  })

  test('delays no login once it exempts the service', async () => {
    const other = await start()
    try {
      expect((await login(other, 'bob', PASSWORDS.bob)).status).toBe(200)
      await expect.poll(() => other.log(), { timeout: 5_000 }).toContain('"penalties":"exempt"')
      const began = performance.now()
      const wrong = await Promise.all(Array.from({ length: 6 }, (_, n) => login(other, `victim${n}`, 'wrong')))

      expect(wrong.map(({ status }) => status)).toEqual(Array(6).fill(401))
      // Spaced out to stay below the penalties, they would take half a minute.
      expect(performance.now() - began).toBeLessThan(15_000)
      expect(await sshdLog()).not.toContain('drop connection')
    } finally {
      await other.stop()
      await host.rig('in', 'host', 'rm', '/etc/ssh/sshd_config.d/panel.conf')
      await reload()
    }
  })

  test('is named as the cause of the failed login when it rejects the service all the same', async () => {
    const alice = await signIn(service, 'alice')
    await provoke()

    const { status, body, ms } = await login(service, 'bob', PASSWORDS.bob)

    expect(body).toEqual({
      code: 'ssh_throttled',
      error: expect.stringMatching(
        /refuse pour l’instant les connexions de ce service, après des mots de passe incorrects/,
      ),
    })
    expect(status).toBe(401)
    expect(ms).toBeLessThan(5_000)
    expect((await alice.get('/api/audit?action=login_failed&limit=1')).body).toMatchObject({
      entries: [{ username: 'bob', details: { reason: 'throttled' } }],
    })
    expect(await wizardCheck('root', 'reachable')).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^L’hôte refuse pour l’instant les connexions de ce service/),
    })
    await reload()
    expect(signedIn(service, await login(service, 'bob', PASSWORDS.bob)).token).not.toBe('')
  })
})

const Checked = z.object({
  checks: z.array(z.object({ id: z.string(), ok: z.boolean(), message: z.string() })),
})

/** Returns one check of this host by the wizard of a service that is not installed. */
async function wizardCheck(account: 'root' | 'alice' | 'ops', wanted = 'penalties') {
  await expect.poll(() => fresh.log(), { timeout: 5_000 }).toContain('jeton d’installation')
  const [, setup_token] = /jeton d’installation : ([\w-]+)/.exec(fresh.log()) ?? []
  const body = { setup_token, ssh_host: host.sshHost, ssh_username: account, ssh_password: PASSWORDS[account] }
  const answer = await ask(fresh, 'POST', '/api/install/check', body)
  return Checked.parse(answer.body).checks.find(({ id }) => id === wanted)
}
