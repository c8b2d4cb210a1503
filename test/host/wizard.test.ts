import { randomUUID } from 'node:crypto'
import { access, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { HELPER_VERSION } from '../../functions/elevation/installed-helper.ts'
import { freePort } from '../free-port.ts'
import { canary, password, search } from '../property/canaries.ts'
import { type Answer, ask, login, packages, refresh, signedIn } from './client.ts'
import { installHelper } from './narrow.ts'
import { hostFingerprint, inside, newPasswords, rig, SSH_HOST } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'
import { leaks, storedSettings } from './stored.ts'

const ACCOUNTS = ['root', 'alice', 'bob', 'ops', 'zoe', 'shut'] as const
const HYPERVISOR = { hypervisor_url: 'https://pve.example:8006', hypervisor_token: `panel@pve!ops=${randomUUID()}` }
const OTHER_KEY = `SHA256:${'A'.repeat(43)}`

let folder: string
let service: Service
/** Every service that was started on the folder. */
const services: Service[] = []
let passwordOf: (account: (typeof ACCOUNTS)[number]) => string
let token: string

beforeAll(async () => {
  await rig('reset')
  passwordOf = await newPasswords(...ACCOUNTS)
  folder = await newFolder()
  service = await start()
  token = await vi.waitUntil(() => tokenTold(service), { timeout: 5_000 })
})
// Restores the host's passwords.
afterAll(async () => {
  await Promise.all(services.map((each) => each.kill()))
  await rm(folder, { recursive: true, force: true })
  await rig('reset')
})

describe('before the installation', () => {
  test('the console shows the address and the setup token, and a private file has the same token', async () => {
    expect(service.log()).toContain(
      `Pas encore installé. Adresse : ${service.url}/setup#token=${token} — jeton d’installation : ${token}`,
    )
    expect((await readFile(tokenFile(), 'utf8')).trim()).toBe(token)
    expect(token).toMatch(/^[\w-]{20,}$/)
    expect((await stat(tokenFile())).mode & 0o777).toBe(0o600)
  })

  test('a killed service shows the same token after its restart', async () => {
    await service.kill()
    service = await start()

    await expect.poll(() => tokenTold(service), { timeout: 5_000 }).toBe(token)
    expect((await readFile(tokenFile(), 'utf8')).trim()).toBe(token)
  })

  test('the status is not installed, and nobody can sign in', async () => {
    expect(await ask(service, 'GET', '/api/install/status')).toMatchObject({ status: 200, body: { installed: false } })
    expect(await login(service, 'alice', passwordOf('alice'))).toMatchObject({
      status: 503,
      body: { code: 'ssh_host_missing', error: 'L’hôte SSH n’est pas configuré.' },
    })
  })

  test.each([
    ['a wrong token', () => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['the beginning of the token', () => token.slice(0, -1)],
    ['an empty token', () => ''],
  ])('a check and an installation with %s are 403, and the host is not asked', async (_, wrong) => {
    const before = await connectionLines()

    const answers = [await check({ setup_token: wrong() }), await install({ setup_token: wrong() })]

    for (const { status, body } of answers) {
      expect(body).toMatchObject({ code: 'setup_token_wrong', error: expect.stringContaining('jeton d’installation') })
      expect(status).toBe(403)
    }
    expect(await connectionLines()).toBe(before)
    expect(await storedSettings(folder)).toEqual({})
  })

  test('a check and an installation without a token are 403, and the host is not asked', async () => {
    const before = await connectionLines()

    for (const { status, body } of [
      await check({ setup_token: undefined }),
      await install({ setup_token: undefined }),
    ]) {
      expect(body).toMatchObject({ code: 'setup_token_wrong' })
      expect(status).toBe(403)
    }
    expect(await connectionLines()).toBe(before)
    expect(await storedSettings(folder)).toEqual({})
  })
})

describe('the check', () => {
  const REACHABLE = `L’hôte répond à ${SSH_HOST}.`
  const APT = 'apt répond.'
  const PCT = 'pct répond : 3 conteneurs.'
  const LATER = expect.stringMatching(/^Pas encore vérifié : \S/)

  test.each([
    ['root', 'root est root.'],
    ['alice', 'alice a tous les droits par sudo, avec son mot de passe.'],
    [
      'ops',
      'ops peut lancer apt-get par sudo, ce qui donne tous les droits de root. Pour les limiter : ops-panel host helper.',
    ],
  ] as const)('passes with the service account %s', async (account, elevation) => {
    const { ssh_host_key, checks } = await checked({ ssh_username: account, ssh_password: passwordOf(account) })

    expect(checks).toEqual([
      ['reachable', true, REACHABLE],
      ['authenticated', true, `${account} s’est connecté.`],
      ['elevation', true, elevation],
      ['apt', true, APT],
      ['container_tool', true, PCT],
    ])
    expect(ssh_host_key).toBe(await hostFingerprint())
  })

  test('passes with an account that may do anything by sudo without a password', async () => {
    await sudoRule('zoe ALL=(ALL) NOPASSWD: ALL')

    const { checks } = await checked({ ssh_username: 'zoe', ssh_password: passwordOf('zoe') })

    expect(checks.map(([, ok]) => ok)).toEqual([true, true, true, true, true])
    expect(checks[2]?.[2]).toBe('zoe a tous les droits par sudo, sans mot de passe.')
  })

  test('names the helper and the sudo rule that bob lacks, and passes with these two', async () => {
    const bob = { ssh_username: 'bob', ssh_password: passwordOf('bob') }
    const before = await checked(bob)
    const [, rule = ''] = /ajoutez une règle sudo : (.+)$/.exec(before.checks[2]?.[2] ?? '') ?? []

    expect(before.checks).toEqual([
      ['reachable', true, REACHABLE],
      ['authenticated', true, 'bob s’est connecté.'],
      [
        'elevation',
        false,
        expect.stringMatching(/^bob n’a pas les droits de mettre à jour\. Installez ops-panel-host /),
      ],
      ['apt', true, APT],
      ['container_tool', false, expect.stringMatching(/^pct ne répond pas \(.+\)\. Sans lui, seul l’hôte /)],
    ])
    expect(rule).toMatch(/^bob ALL=/)
    await installHelper()
    const { checks } = await checked(bob)
    expect(checks[2]).toEqual(['elevation', false, expect.stringContaining(`Ajoutez une règle sudo : ${rule}`)])
    await sudoRule(rule)
    const after = await checked(bob)
    expect(after.checks.map(([, ok]) => ok)).toEqual([true, true, true, true, true])
    expect(after.checks[2]?.[2]).toBe(
      `bob n’a par sudo que les droits qu’ops-panel-host lui donne (version ${HELPER_VERSION}).`,
    )
  })

  test('reports a helper that is older, changed or not owned by root, with the remedy', async () => {
    const bob = { ssh_username: 'bob', ssh_password: passwordOf('bob') }
    const told = async () => (await checked(bob)).checks[2]?.slice(1)

    await installHelper('s/^VERSION=.*/VERSION=0/')
    expect(await told()).toEqual([
      false,
      expect.stringContaining(
        `(version 0). Il faut la version ${HELPER_VERSION} : « ops-panel host helper » dit comment`,
      ),
    ])
    await installHelper('$ s/$/# changed/')
    expect(await told()).toEqual([true, expect.stringContaining('Il diffère de celui de ce service')])
    await installHelper()
    await inside('host', 'chown bob /usr/sbin/ops-panel-host')
    expect(await told()).toEqual([false, expect.stringContaining('chown root:root /usr/sbin/ops-panel-host')])
    await inside('host', 'chown root /usr/sbin/ops-panel-host')
  })

  test('with a wrong password, shows the host’s key and leaves the rest unchecked', async () => {
    const { ssh_host_key, checks } = await checked({ ssh_username: 'alice', ssh_password: 'wrong' })

    expect(checks).toEqual([
      ['reachable', true, REACHABLE],
      ['authenticated', false, expect.stringMatching(/^L’hôte refuse alice avec ce mot de passe ; /)],
      ['elevation', false, LATER],
      ['apt', false, LATER],
      ['container_tool', false, LATER],
    ])
    expect(ssh_host_key).toBe(await hostFingerprint())
  })

  test('reports that an account whose shell runs no commands needs another shell', async () => {
    const { checks } = await checked({ ssh_username: 'shut', ssh_password: passwordOf('shut') })

    expect(checks.map(([, ok]) => ok)).toEqual([true, false, false, false, false])
    expect(checks[1]?.[2]).toMatch(
      /^shut se connecte mais ne peut exécuter aucune commande \(il lui faut un shell, .+\)\.$/,
    )
  })

  test('at a closed port, leaves the key empty and the rest unchecked', async () => {
    const ssh_host = `127.0.0.1:${await freePort()}`

    const { ssh_host_key, checks } = await checked({ ssh_host })

    expect(checks).toEqual([
      ['reachable', false, expect.stringMatching(`^Aucun serveur SSH ne répond à ${ssh_host} \\(.+\\)\\. Vérifiez `)],
      ['authenticated', false, LATER],
      ['elevation', false, LATER],
      ['apt', false, LATER],
      ['container_tool', false, LATER],
    ])
    expect(ssh_host_key).toBe('')
  })

  test('reports a host without apt or pct', async () => {
    await inside('host', 'mv /usr/bin/apt /usr/bin/apt.away; mv /usr/sbin/pct /usr/sbin/pct.away')
    const { checks } = await checked({ ssh_username: 'root', ssh_password: passwordOf('root') }).finally(() =>
      inside('host', 'mv /usr/bin/apt.away /usr/bin/apt; mv /usr/sbin/pct.away /usr/sbin/pct'),
    )

    expect(checks).toEqual([
      ['reachable', true, REACHABLE],
      ['authenticated', true, 'root s’est connecté.'],
      ['elevation', true, 'root est root.'],
      ['apt', false, expect.stringMatching(/^apt ne répond pas \(.+\)\. L’hôte doit être une Debian /)],
      ['container_tool', false, expect.stringMatching(/^Il n’y a pas de pct sur cet hôte : seul l’hôte /)],
    ])
  })

  test('stores nothing, and leaves no connection open', async () => {
    expect(await storedSettings(folder)).toEqual({})
    await expect.poll(() => inside('host', 'pgrep -cf "^sshd: [^/]" || true'), { timeout: 5_000 }).toBe('0')
  })
})

describe('the installation', () => {
  test.each([
    ['another fingerprint', { ssh_host_key: OTHER_KEY }, /la clé de l’hôte|Une autre clé/],
    ['a wrong password', { ssh_password: 'wrong' }, /refuse ops avec ce mot de passe/],
  ])('with %s is refused, and nothing is stored', async (_, change, told) => {
    const { status, body } = await install({ ssh_host_key: await hostFingerprint(), ...change })

    expect(body).toMatchObject({ code: 'host_check_failed', error: expect.stringMatching(told) })
    expect(status).toBe(502)
    expect(await storedSettings(folder)).toEqual({})
    expect(await ask(service, 'GET', '/api/install/status')).toMatchObject({ body: { installed: false } })
    expect((await readFile(tokenFile(), 'utf8')).trim()).toBe(token)
  })

  test('of two at once, one succeeds and the other is 409', async () => {
    const ssh_host_key = await hostFingerprint()

    const answers = await Promise.all([install({ ssh_host_key }), install({ ssh_host_key })])

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(answers.find(({ status }) => status === 201)?.body).toEqual({
      message: 'Installation terminée : connectez-vous avec un compte de l’hôte.',
    })
    expect(await ask(service, 'GET', '/api/install/status')).toMatchObject({ body: { installed: true } })
    expect(await storedSettings(folder)).toEqual({
      ssh_host: SSH_HOST,
      ssh_username: 'ops',
      ssh_password: passwordOf('ops'),
      ssh_host_key: `ssh-ed25519 ${ssh_host_key}`,
      ...HYPERVISOR,
    })
  })

  test('lets an administrator sign in, who sees the settings without the secrets', async () => {
    const alice = signedIn(service, await login(service, 'alice', passwordOf('alice')))

    expect(await alice.get('/api/settings')).toMatchObject({ status: 200, body: await shown() })
    expect(
      Object.keys(z.record(z.string(), z.unknown()).parse((await alice.get('/api/settings')).body)).sort(),
    ).toEqual(Object.keys(await shown()).sort())
    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
    const { body } = await alice.get('/api/audit?action=installed')
    expect(body).toMatchObject({ entries: [{ action: 'installed', target: SSH_HOST }] })
  })

  test('removes the token’s file, and every later check or installation is 409', async () => {
    await expect(access(tokenFile())).rejects.toThrow('ENOENT')

    const ssh_host_key = await hostFingerprint()
    const late = [
      await check({}),
      await install({ ssh_host_key }),
      await install({ ssh_host_key }),
      await install({ setup_token: 'wrong', ssh_host_key: OTHER_KEY }),
      await ask(service, 'POST', '/api/install', {}),
      await ask(service, 'POST', '/api/install/check', []),
    ]

    for (const { status, body } of late) {
      expect(body).toMatchObject({ code: 'already_installed' })
      expect(status).toBe(409)
    }
  })

  test('survives a restart, which makes no new token', async () => {
    const alice = signedIn(service, await login(service, 'alice', passwordOf('alice')))
    await service.stop()
    service = await start()
    const again = signedIn(service, await login(service, 'alice', passwordOf('alice')))

    expect((await again.get('/api/settings')).body).toEqual(await shown())
    expect(await packages(again, 'host')).toHaveLength(5)
    expect((await refresh(service, alice.cookie)).status).toBe(200)
    await expect(access(tokenFile())).rejects.toThrow('ENOENT')
    expect(service.log()).toContain('"ready"')
    expect(service.log()).not.toMatch(/jeton|Pas encore installé/)
    expect((await install({ ssh_host_key: await hostFingerprint() })).status).toBe(409)
  })
})

describe('the secrets', () => {
  test('no password and no hypervisor token is in the database, the log or any answer', async () => {
    const secrets = [
      ...ACCOUNTS.map((account) => password(account, passwordOf(account))),
      canary('hypervisor token', HYPERVISOR.hypervisor_token),
      canary('hypervisor token’s secret', HYPERVISOR.hypervisor_token.split('=')[1] ?? ''),
    ]

    expect(await leaks(folder, logs(), secrets)).toEqual([])
  })

  test('the setup token is on the console and nowhere else', async () => {
    const secret = [canary('setup token', token)]
    const rest = logs()
      .split('\n')
      .filter((line) => !line.includes('Pas encore installé'))

    expect(search(logs(), secret)).not.toEqual([])
    expect(await leaks(folder, rest.join('\n'), secret)).toEqual([])
  })

  test('the log in the panel does not show the setup token to an administrator', async () => {
    const other = await newFolder()
    const fresh = await startService({ as: null, folder: other })
    try {
      const setup_token = await vi.waitUntil(() => tokenTold(fresh), { timeout: 5_000 })
      const body = { ...filledIn(), setup_token, ssh_host_key: await hostFingerprint() }
      expect((await ask(fresh, 'POST', '/api/install', body)).status).toBe(201)
      const alice = signedIn(fresh, await login(fresh, 'alice', passwordOf('alice')))

      const { status, body: lines } = await alice.get('/api/settings/logs')

      expect(status).toBe(200)
      expect(JSON.stringify(lines)).toContain('ready')
      expect(search(JSON.stringify(lines), [canary('setup token', setup_token)])).toEqual([])
    } finally {
      await fresh.kill()
      await rm(other, { recursive: true, force: true })
    }
  })
})

async function start(): Promise<Service> {
  const started = await startService({ as: null, folder })
  services.push(started)
  return started
}

function logs(): string {
  return services.map((each) => each.log()).join('\n')
}

function tokenFile(): string {
  return join(folder, 'setup-token')
}

/** Returns the setup token on a service's console; empty before there is one. */
function tokenTold(one: Service): string {
  return /jeton d’installation : ([\w-]+)/.exec(one.log())?.[1] ?? ''
}

/** Returns the values that a user enters in the wizard. */
function filledIn() {
  return { setup_token: token, ssh_host: SSH_HOST, ssh_username: 'ops', ssh_password: passwordOf('ops') }
}

function check(change: object): Promise<Answer> {
  return ask(service, 'POST', '/api/install/check', { ...filledIn(), ...change })
}

function install(change: object): Promise<Answer> {
  return ask(service, 'POST', '/api/install', { ...filledIn(), ssh_host_key: OTHER_KEY, ...HYPERVISOR, ...change })
}

const Checked = z.strictObject({
  ssh_host_key: z.string(),
  checks: z.array(
    z
      .strictObject({ id: z.string(), ok: z.boolean(), message: z.string() })
      .transform(({ id, ok, message }) => [id, ok, message] as const),
  ),
})

async function checked(change: object) {
  const { status, body } = await check(change)
  expect(status, JSON.stringify(body)).toBe(200)
  return Checked.parse(body)
}

/** Returns the number of log lines about connections to the host's sshd. */
async function connectionLines(): Promise<number> {
  return (await rig('log'))
    .split('\n')
    .filter((line) => /(Accepted|Failed) password|Connection (closed|reset)/.test(line)).length
}

/** Adds a sudo rule at the host; rejects when visudo finds it invalid. */
async function sudoRule(rule: string): Promise<void> {
  await inside('host', `echo '${rule}' >>/etc/sudoers.d/test; chmod 440 /etc/sudoers.d/test; visudo -cq`)
}

/** Returns the settings that the API must show an administrator. */
async function shown() {
  return {
    ssh_host: SSH_HOST,
    ssh_username: 'ops',
    ssh_password_set: true,
    ssh_key_set: false,
    ssh_key_next_set: false,
    ssh_public_key: '',
    ssh_authorized_key: '',
    ssh_next_authorized_key: '',
    ssh_key_retired: '',
    ssh_host_key: `ssh-ed25519 ${await hostFingerprint()}`,
    hypervisor_url: HYPERVISOR.hypervisor_url,
    hypervisor_token_set: true,
    hypervisor_fingerprint: '',
    dashboard_shortcuts: '[]',
    checks_automatic: 'on',
    checks_parallel: '6',
    forge_url: '',
    forge_org: '',
    forge_token_set: false,
    forge_fingerprint: '',
    forge_environment: null,
  }
}
