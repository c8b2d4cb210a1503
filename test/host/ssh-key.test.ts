import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { readSettings } from '../../db/settings.ts'
import { openStorage } from '../../db/storage.ts'
import { readConfig } from '../../platform/config.ts'
import { turnChecksOff, turnProtectionOff } from '../checks-off.ts'
import { randomOf, seedOf } from '../rounds.ts'
import { issue } from '../serve/service.ts'
import { openTerminal, say } from '../terminal-client.ts'
import { ask, askPackages, type Caller, caller, login, packages } from './client.ts'
import { installHelper } from './narrow.ts'
import { planningAs } from './planning.ts'
import { hostFingerprint, inside, resetWithSshd, rig, SSH_HOST } from './rig.ts'
import { commandLine, newFolder, type Service, startService } from './service.ts'
import { at } from './terminals.ts'

const KEYS_ONLY = ['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'MaxAuthTries 20']
const ROUNDS = 8

const Made = z.object({ ssh_public_key: z.string(), authorized_key: z.string() })
const Checked = z.object({ checks: z.array(z.object({ id: z.string(), ok: z.boolean(), message: z.string() })) })
const Rotated = z.object({
  state: z.enum(['rotated', 'waiting']),
  ssh_public_key: z.string(),
  authorized_key: z.string(),
  old_key_left: z.boolean(),
  message: z.string(),
})

const folders: string[] = []
const services: Service[] = []
afterAll(async () => {
  await Promise.all(services.map((each) => each.kill()))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  await rig('reset')
})

async function start(folder: string): Promise<Service> {
  const service = await startService({ as: null, folder })
  services.push(service)
  return service
}

/** Writes the account's authorized_keys, as its administrator does. */
const authorize = (account: string, ...lines: string[]) =>
  inside(
    'host',
    `home=$(getent passwd ${account} | cut -d: -f6) && install -d -o ${account} -m 700 "$home/.ssh" &&
    printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} >"$home/.ssh/authorized_keys" &&
    chown ${account}: "$home/.ssh" "$home/.ssh/authorized_keys"`,
  )
const authorizedOf = (account: string) => inside('host', `cat ~${account}/.ssh/authorized_keys`)

/** Installs a new service by key for an account of the host, as the wizard does, and returns an administrator of it. */
async function installed(account: string): Promise<{ folder: string; service: Service; alice: Caller; line: string }> {
  const folder = await newFolder()
  folders.push(folder)
  const service = await start(folder)
  const found = await vi.waitUntil(() => /jeton d’installation : (\S+)/.exec(service.log())?.[1], { timeout: 10_000 })
  const body = { setup_token: found, ssh_host: SSH_HOST, ssh_username: account, auth: 'key' }
  const made = Made.parse((await ask(service, 'POST', '/api/install/key', { setup_token: found })).body)
  const before = Checked.parse((await ask(service, 'POST', '/api/install/check', body)).body)
  expect(before.checks.find(({ id }) => id === 'authenticated')).toMatchObject({ ok: false })
  await authorize(account, made.authorized_key)
  const { checks } = Checked.parse((await ask(service, 'POST', '/api/install/check', body)).body)
  expect(checks.filter(({ id, ok }) => !ok && id !== 'penalties')).toEqual([])
  const ssh_host_key = await hostFingerprint()
  expect(await ask(service, 'POST', '/api/install', { ...body, ssh_host_key })).toMatchObject({ status: 201 })
  await turnChecksOff(service.database)
  await turnProtectionOff(service.database)
  return { folder, service, alice: await administrator(service), line: made.authorized_key }
}

/** The private key of the service account, as the service's own folder has it. */
async function storedKey(folder: string): Promise<string> {
  const { db, secrets } = await openStorage(readConfig({ PANEL_DATA_DIR: folder }), () => new Date())
  const sealed = (await readSettings(db)).get('ssh_key') ?? ''
  await db.close()
  return secrets.open('ssh_key', sealed)
}

/** Tries what the key may do as root: a connection to another port through the host, and a command. */
async function attempts(privateKey: string): Promise<{ forwarded: boolean; ran: number }> {
  const client = new ssh2.Client()
  const [host = '', port = ''] = SSH_HOST.split(':')
  client.connect({ host, port: Number(port), username: 'root', privateKey })
  await once(client, 'ready')
  const forwarded = await new Promise<boolean>((resolve) => {
    client.forwardOut('127.0.0.1', 0, host, Number(port), (error) => resolve(!error))
  })
  const ran = await new Promise<number>((resolve, reject) => {
    client.exec('true', (error, channel) => {
      if (error) reject(error)
      else channel.on('exit', (code: number) => resolve(code))
    })
  })
  client.end()
  return { forwarded, ran }
}

async function administrator(service: Service): Promise<Caller> {
  const { token } = await issue(service.folder, 900, { isAdmin: true })
  return caller(service, token, '')
}

const rotate = async (by: Caller, body: object = {}) => {
  const answer = await by.post('/api/settings/ssh-key/rotate', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return Rotated.parse(answer.body)
}

describe('a host that takes keys only', () => {
  let service: Service
  let alice: Caller
  let line: string
  beforeAll(async () => {
    await resetWithSshd(...KEYS_ONLY)
    ;({ service, alice, line } = await installed('root'))
  })

  test('plans, upgrades and terminals work by the key', async () => {
    expect(await packages(alice, 'lxc:101')).toHaveLength(5)
    const { plan, run } = planningAs(alice, rig)
    const { id } = await plan('lxc:101')
    expect(await run('lxc:101', id)).toMatchObject({ status: 'success', exit_code: 0 })
    // It would remove another package.
    expect(await packages(alice, 'lxc:101')).toMatchObject([{ name: 'rig-web' }])

    for (const [target, name] of [
      ['host', /root\r\n.*pve/s],
      ['lxc:101', /root\r\nweb/],
    ] as const) {
      const terminal = await openTerminal(at(alice), target)
      expect(await say(terminal, 'id -un; hostname; tty')).toMatch(
        target === 'host' ? /^root\r\n\S+\r\n\/dev\/pts/ : name,
      )
    }
  })

  test('a person with a password is told that the host takes none', async () => {
    const answer = await login(service, 'alice', 'Alice-pw-1')

    expect(answer.status).toBe(401)
    expect(JSON.stringify(answer.body)).not.toContain('invalid_credentials')
  })

  test('sshd forbids what the line forbids: the key runs commands, and forwards no port', async () => {
    expect(line).toMatch(/^restrict,pty ssh-ed25519 /)
    const [, publicKey = ''] = /(ssh-ed25519 \S+)/.exec(line) ?? []
    const privateKey = await storedKey(service.folder)

    expect(await attempts(privateKey)).toEqual({ forwarded: false, ran: 0 })

    await authorize('root', publicKey)
    expect(await attempts(privateKey)).toEqual({ forwarded: true, ran: 0 })
    await authorize('root', line)
  })

  test('doctor finds all well, and the private key is nowhere in clear', async () => {
    const told = await commandLine(service, 'doctor').catch(({ stdout }) => String(stdout))

    expect(told).toContain('✓ root s’est connecté.')
    expect(told).not.toMatch(/✗ .*(clé|root)/)
    expect(service.log()).not.toContain('PRIVATE KEY')
  })

  test('a key that is removed on the host is told, and works again when its line is back', async () => {
    await authorize('root', '# nobody')
    await service.kill()
    service = await start(service.folder)
    alice = await administrator(service)

    expect(await askPackages(alice, 'lxc:101')).toMatchObject({
      status: 502,
      body: { code: 'ssh_failed', error: expect.stringContaining('l’hôte refuse la clé de root') },
    })

    await authorize('root', line)
    // A refused key is not tried again for 15 s.
    await vi.waitFor(async () => expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 }), {
      timeout: 40_000,
      interval: 1_000,
    })
  })

  test('a rotation replaces the key on the host, and other lines and the mode stay', async () => {
    const other = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther other@example'
    await authorize('root', `# of the host`, other, line)
    await inside('host', 'chmod 640 /root/.ssh/authorized_keys')

    const answer = await rotate(alice)

    expect(answer).toMatchObject({ state: 'rotated', old_key_left: false })
    expect(await authorizedOf('root')).toBe(['# of the host', other, answer.authorized_key].join('\n'))
    expect(await inside('host', 'stat -c "%a %U" /root/.ssh/authorized_keys')).toBe('640 root')
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })
    line = answer.authorized_key
  })

  test('where sshd reads another file, nothing changes until the line is there and confirmed', async () => {
    await inside(
      'host',
      `install -d /etc/ssh/keys && cp /root/.ssh/authorized_keys /etc/ssh/keys/root && chmod 644 /etc/ssh/keys/root &&
      sed -i '1i AuthorizedKeysFile /etc/ssh/keys/%u' /etc/ssh/sshd_config && kill -HUP $(cat /run/sshd.pid)`,
    )
    const waiting = await rotate(alice)
    expect(waiting).toMatchObject({ state: 'waiting', message: expect.stringContaining('AuthorizedKeysFile') })
    expect(await authorizedOf('root')).not.toContain(waiting.ssh_public_key)
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })

    await inside('host', `echo '${waiting.authorized_key}' >>/etc/ssh/keys/root`)
    const answer = await rotate(alice, { confirmed: true })

    // Its old line is in a file that the service does not know.
    expect(answer).toMatchObject({ state: 'rotated', old_key_left: true, ssh_public_key: waiting.ssh_public_key })
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })
  })
})

describe('an account with a rule of sudo', () => {
  test('without a rule, the wizard says that sudo wants a password; with the helper’s, jobs run by the key', async () => {
    await resetWithSshd(...KEYS_ONLY)
    await inside(
      'host',
      `useradd -m -s /bin/bash keyed && usermod -aG sudo keyed && usermod -p '*' keyed &&
      echo 'Defaults logfile=/var/log/sudo.log' >/etc/sudoers.d/log && chmod 440 /etc/sudoers.d/log`,
    )
    const folder = await newFolder()
    folders.push(folder)
    const service = await start(folder)
    const setup_token = await vi.waitUntil(() => /jeton d’installation : (\S+)/.exec(service.log())?.[1], {
      timeout: 10_000,
    })
    const body = { setup_token, ssh_host: SSH_HOST, ssh_username: 'keyed', auth: 'key' }
    const { authorized_key } = Made.parse((await ask(service, 'POST', '/api/install/key', { setup_token })).body)
    await authorize('keyed', authorized_key)
    const check = async () => Checked.parse((await ask(service, 'POST', '/api/install/check', body)).body).checks
    const lacking = (await check()).find(({ id }) => id === 'elevation')
    expect(lacking).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^sudo demande le mot de passe de keyed, que le panneau n’a pas\./),
    })
    const rule = /règle sudo : (.+)$/.exec(lacking?.message ?? '')?.[1]

    await installHelper()
    await inside('host', `echo '${rule}' >/etc/sudoers.d/ops-panel && chmod 440 /etc/sudoers.d/ops-panel && visudo -cq`)
    expect((await check()).filter(({ id, ok }) => !ok && id !== 'penalties')).toEqual([])
    await ask(service, 'POST', '/api/install', { ...body, ssh_host_key: await hostFingerprint() })
    await turnChecksOff(service.database)
    await turnProtectionOff(service.database)
    const alice = await administrator(service)

    const { plan, run } = planningAs(alice, rig)
    const { id } = await plan('lxc:101')
    expect(await run('lxc:101', id)).toMatchObject({ status: 'success' })
    expect(await rotate(alice)).toMatchObject({ state: 'rotated', old_key_left: false })
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })
    const sudo = await inside('host', 'cat /var/log/sudo.log')
    expect(sudo).toContain('COMMAND=/usr/sbin/ops-panel-host')
    expect(sudo).not.toContain('incorrect password')
  })
})

describe('a host by password', () => {
  test('a killed service never loses the account: at any moment of a rotation, one of its keys works', async () => {
    await rig('reset')
    const folder = await newFolder()
    folders.push(folder)
    let service = await startService({ as: 'root', folder })
    services.push(service)
    let alice = await administrator(service)
    expect(await rotate(alice, { drop_password: true })).toMatchObject({ state: 'rotated' })
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })
    const seed = seedOf('test/host/ssh-key.test.ts', 'host')
    const random = randomOf(seed)

    for (let round = 0; round < ROUNDS; round += 1) {
      const cut = Math.round(random.next() * 900)
      const rotating = alice.post('/api/settings/ssh-key/rotate', {}).catch(() => undefined)
      await pause(cut)
      await service.kill()
      await rotating
      service = await start(folder)
      alice = await administrator(service)
      expect((await askPackages(alice, 'lxc:101')).status, `round ${round}, cut after ${cut} ms, seed ${seed}`).toBe(
        200,
      )
    }

    // Each key that was cut off is the waiting one or a retired one: the next rotation leaves one line.
    expect(await rotate(alice)).toMatchObject({ state: 'rotated', old_key_left: false })
    const lines = (await authorizedOf('root')).split('\n').filter((text) => text.endsWith(' ops-panel'))
    expect(lines).toHaveLength(1)
    expect(await askPackages(alice, 'lxc:101')).toMatchObject({ status: 200 })
    expect(await inside('host', 'ls -A /root/.ssh')).toBe('authorized_keys')
  })
})
