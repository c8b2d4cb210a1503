import { expect, test } from 'vitest'
import { readSettings } from '../../../db/settings.ts'
import { createSettings } from '../../../functions/services.ts'
import settingsPage from '../../../functions/settings/settings.get.ts'
import { CommandError, UsageError } from '../../../runtime/command.ts'
import { readConfig } from '../../../platform/config.ts'
import { PromptClosed } from '../../../cli/prompt.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { START, testApp } from '../../app.ts'
import { NOW } from '../../db/database.ts'
import { hostOf, startDemo } from '../../runtime/demo.ts'
import { answered, audited } from '../answers.ts'
import { answering, OPERATOR, typeCommand } from '../console.ts'

const TOKEN = 'root@pam!panel=01234567-89ab-cdef-0123-456789abcdef'
const NAMES =
  'ssh_host, ssh_username, ssh_password, ssh_key, ssh_host_key, hypervisor_url, hypervisor_token, hypervisor_fingerprint, forge_url, forge_org, forge_token, forge_fingerprint, checks_automatic, checks_parallel, dashboard_shortcuts'

async function start() {
  const app = await testApp([settingsPage])
  const type = async (words: readonly string[], answers = answering()) =>
    (await typeCommand({ ...app.services, secrets: app.secrets }, words, answers)).text
  return { ...app, type }
}

test('settings get shows every setting, and of a secret only whether it is set', async () => {
  const { type, db } = await start()
  const before = await readSettings(db)

  expect(await type(['settings', 'get'])).toBe(
    [
      'ssh_host=pve.test',
      'ssh_username=panel',
      'ssh_password=(défini)',
      'ssh_key=(absent)',
      'ssh_host_key=',
      'hypervisor_url=',
      'hypervisor_token=(absent)',
      'hypervisor_fingerprint=',
      'forge_url=',
      'forge_org=',
      'forge_token=(absent)',
      'forge_fingerprint=',
      'checks_automatic=on',
      'checks_parallel=6',
      'dashboard_shortcuts=[]',
    ].join('\n'),
  )
  expect(await readSettings(db)).toEqual(before)
  expect(await audited(db)).toEqual([])
})

test.each([
  ['ssh_host', 'pve.test'],
  ['ssh_host_key', ''],
  ['ssh_password', '(défini)'],
  ['hypervisor_token', '(absent)'],
  ['checks_parallel', '6'],
  ['dashboard_shortcuts', '[]'],
])('settings get %s shows only that setting', async (name, value) => {
  const { type } = await start()

  expect(await type(['settings', 'get', name])).toBe(value)
})

test.each(['ssh_hots', 'ssh_password_set', 'SSH_HOST', '', 'toString'])(
  'settings get « %s » is refused with the list of names',
  async (name) => {
    const { type } = await start()

    const typed = type(['settings', 'get', name])

    await expect(typed).rejects.toThrow(CommandError)
    await expect(typed).rejects.toThrow(`réglage inconnu « ${name} ». Possibles : ${NAMES}.`)
  },
)

test('settings set stores a value given as an argument, and nothing else, and audits it', async () => {
  const { type, db } = await start()
  const { prompt, asked } = answering()
  const before = await readSettings(db)

  const text = await type(['settings', 'set', 'hypervisor_url', 'https://pve.test:8006'], { prompt, asked })

  expect(text).toBe('Enregistré : hypervisor_url. Un service en marche en tient compte dès sa prochaine commande.')
  expect(asked).toEqual([])
  expect(await readSettings(db)).toEqual(new Map([...before, ['hypervisor_url', 'https://pve.test:8006']]))
  expect(await audited(db)).toEqual([
    {
      at: START.toISOString(),
      action: 'settings_changed',
      user_id: null,
      username: OPERATOR,
      target: null,
      ip: 'console',
      details: {
        keys: 'hypervisor_url',
        hypervisor_url_before: '',
        hypervisor_url_after: 'https://pve.test:8006',
      },
    },
  ])
})

test('settings set asks for a missing value', async () => {
  const { type, db } = await start()
  const answers = answering('root')

  expect(await type(['settings', 'set', 'ssh_username'], answers)).toContain('Enregistré : ssh_username.')

  expect(answers.asked).toEqual([{ question: 'ssh_username : ', secret: false }])
  expect((await readSettings(db)).get('ssh_username')).toBe('root')
})

test('an empty argument is a value: it clears the setting', async () => {
  const { type, db } = await start()
  await type(['settings', 'set', 'hypervisor_url', 'https://pve.test:8006'])
  const answers = answering()

  await type(['settings', 'set', 'hypervisor_url', ''], answers)

  expect(answers.asked).toEqual([])
  expect((await readSettings(db)).get('hypervisor_url')).toBe('')
})

test.each([
  ['ssh_password', 'another-password'],
  ['hypervisor_token', TOKEN],
])('the secret %s is refused as an argument, and neither repeated nor stored', async (name, value) => {
  const { type, db, lines } = await start()
  const before = await readSettings(db)
  const answers = answering(value)

  const error = await type(['settings', 'set', name, value], answers).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(CommandError)
  expect(String(error)).toContain(`${name} est un secret`)
  expect(String(error) + lines().join('\n')).not.toContain(value)
  expect(answers.asked).toEqual([])
  expect(await readSettings(db)).toEqual(before)
  expect(await audited(db)).toEqual([])
})

test.each([
  ['ssh_password', 'another-password'],
  ['hypervisor_token', TOKEN],
])('the secret %s is read without echo and stored sealed', async (name, value) => {
  const { type, db, secrets, lines } = await start()
  const answers = answering(value)

  const text = await type(['settings', 'set', name], answers)

  expect(text).toContain(`Enregistré : ${name}.`)
  expect(answers.asked).toEqual([{ question: `${name} : `, secret: true }])
  const sealed = (await readSettings(db)).get(name) ?? ''
  expect(secrets.open(name, sealed)).toBe(value)
  expect(JSON.stringify([text, sealed, lines(), await audited(db)])).not.toContain(value)
  expect((await audited(db)).map(({ details }) => details)).toEqual([{ keys: name }])
})

test('an empty secret changes nothing', async () => {
  const { type, db } = await start()
  const before = await readSettings(db)

  expect(await type(['settings', 'set', 'ssh_password'], answering(''))).toBe('Rien n’a changé.')

  expect(await readSettings(db)).toEqual(before)
  expect(await audited(db)).toEqual([])
})

test.each([
  ['ssh_host', 'pve:0'],
  ['ssh_username', ''],
  ['ssh_host_key', 'SHA256:short'],
  ['hypervisor_url', 'https://root:secret@pve.test'],
  ['hypervisor_fingerprint', 'AA:BB'],
  ['checks_automatic', 'yes'],
  ['checks_parallel', '17'],
  ['dashboard_shortcuts', '{'],
  ['ssh_username', 'a\0b'],
])('%s refuses %j in French, and nothing changes', async (name, value) => {
  const { type, db } = await start()
  const before = await readSettings(db)

  const typed = type(['settings', 'set', name, value])

  await expect(typed).rejects.toThrow(CommandError)
  await expect(typed).rejects.toThrow(new RegExp(`^${name} : .+`))
  await expect(typed).rejects.not.toThrow(/Invalid|Too (small|big)/)
  expect(await readSettings(db)).toEqual(before)
  expect(await audited(db)).toEqual([])
})

test('an invalid secret is refused without being repeated', async () => {
  const { type, db } = await start()

  const typed = type(['settings', 'set', 'hypervisor_token'], answering('not-a-token-4711'))

  await expect(typed).rejects.toThrow(/^hypervisor_token : un jeton/)
  await expect(typed).rejects.not.toThrow(/4711/)
  expect((await readSettings(db)).has('hypervisor_token')).toBe(false)
})

test.each([
  [['ssh_host', 'pve.test'], []],
  [['ssh_password'], ['service-password']],
])('%j with its present value reports no change, and leaves no entry', async (words, given) => {
  const { type, db } = await start()

  expect(await type(['settings', 'set', ...words], answering(...given))).toBe('Rien n’a changé.')

  expect(await audited(db)).toEqual([])
})

test.each(['ssh_hots', 'setup_token', 'toString', ''])(
  'settings set « %s » is refused before any question, with the list of names',
  async (name) => {
    const { type, db } = await start()
    const before = await readSettings(db)
    const answers = answering('x')

    await expect(type(['settings', 'set', name], answers)).rejects.toThrow(
      `réglage inconnu « ${name} ». Possibles : ${NAMES}.`,
    )

    expect(answers.asked).toEqual([])
    expect(await readSettings(db)).toEqual(before)
  },
)

test('settings set without a name explains its arguments', async () => {
  const { type } = await start()

  await expect(type(['settings', 'set'])).rejects.toThrow(UsageError)
  await expect(type(['settings', 'set'])).rejects.toThrow('settings set <réglage> [valeur]')
})

test('when the input ends instead of an answer, nothing changes', async () => {
  const { type, db } = await start()
  const before = await readSettings(db)

  await expect(type(['settings', 'set', 'ssh_password'])).rejects.toThrow(PromptClosed)

  expect(await readSettings(db)).toEqual(before)
  expect(await audited(db)).toEqual([])
})

test('a running service shows and uses the change at once', async () => {
  const { type, services, request } = await start()

  await type(['settings', 'set', 'ssh_host', 'other.test:2222'])
  await type(['settings', 'set', 'ssh_password'], answering('another-password'))

  expect(await services.settings.sshAccount()).toMatchObject({
    host: 'other.test',
    port: 2222,
    password: 'another-password',
  })
  expect(await answered(await request('GET', '/api/settings', { as: 'admin' }), 200)).toMatchObject({
    ssh_host: 'other.test:2222',
  })
})

test('with another host the pinned key stays, and the command says so', async () => {
  const { type, db } = await start()
  const key = `SHA256:${'A'.repeat(43)}`
  await type(['settings', 'set', 'ssh_host_key', key])

  await type(['settings', 'set', 'ssh_username', 'root'])
  const text = await type(['settings', 'set', 'ssh_host', 'other.test'])

  expect(text).toMatch(/^Enregistré : ssh_host\. .+\nLa clé d’hôte déjà acceptée reste exigée/)
  expect((await readSettings(db)).get('ssh_host_key')).toBe(key)
})

test('the running service’s next command goes to the new host', async () => {
  const [one, two] = [
    await startDemo(),
    await startDemo({ users: { panel: { password: 'pw', uid: 0, groups: ['root'] } } }),
  ]
  const { host, db, settings, log } = await hostOf(one)
  await host.exec(['id', '-u'])
  expect([one.commands.length > 0, two.commands]).toEqual([true, []])
  const before = one.commands.length
  const secrets = createSecrets(Buffer.alloc(32, 7))
  const context = { db, secrets, log, config: readConfig({}), clock: () => new Date(NOW) }

  await typeCommand(context, ['settings', 'set', 'ssh_host', `127.0.0.1:${two.port}`])
  await typeCommand(context, ['settings', 'set', 'ssh_password'], answering('pw'))
  await typeCommand(context, ['settings', 'set', 'ssh_host_key', ''])
  expect((await host.exec(['id', '-u'])).code).toBe(0)

  expect(two.commands.length).toBeGreaterThan(0)
  expect(one.commands).toHaveLength(before)
  expect((await createSettings({ ...context }).sshAccount()).port).toBe(two.port)
  expect((await settings.sshAccount()).hostKey).toBe(two.hostKey)
})
