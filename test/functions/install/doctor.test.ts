import { chmod, chown, mkdir, open, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SCHEMA_VERSION, schemaVersion } from '../../../db/migrate.ts'
import { readSettings } from '../../../db/settings.ts'
import type { DemoHost } from '../../../demo/host.ts'
import type { Process } from '../../../demo/process.ts'
import { createSettings, type SettingValues } from '../../../functions/services.ts'
import { readConfig } from '../../../platform/config.ts'
import { createLog } from '../../../platform/log.ts'
import { openStorage } from '../../../db/storage.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { freePort } from '../../free-port.ts'
import { type TestHypervisor, testHypervisor } from '../../hypervisor.ts'
import { startDemo } from '../../runtime/demo.ts'
import { runProgram } from '../../serve/program.ts'
import { selfSigned } from '../../spec/certificate.ts'
import { audited, sealWithAnotherKey } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { ACCOUNTS } from './wizard.ts'

const WELL = 'Tout va bien.'
const NOT_WELL = 'Il reste à corriger ce qui est marqué ✗.'

/** The data of a service, which knows its host unless told otherwise. */
async function prepare(
  demo?: DemoHost,
  more: { username?: string; password?: string; env?: Record<string, string> } = {},
) {
  const folder = await temporaryFolder()
  const clock = () => new Date()
  const config = readConfig({ PANEL_DATA_DIR: folder, ...more.env })
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const { db, secrets } = await openStorage(config, clock)
  onTestFinished(() => db.close())
  if (demo) {
    const { username = demo.service.username, password = demo.service.password } = more
    const settings = createSettings({ db, secrets, clock, log })
    await settings.fillSsh({ host: `127.0.0.1:${demo.port}`, username, password, hostKey: '' })
  }
  // The mode that the program sets, for the owner only.
  await chmod(join(folder, 'panel.db'), 0o600)
  return {
    folder,
    db,
    secrets,
    log,
    lines,
    async doctor(at = clock) {
      const { text, ok } = await typeCommand({ db, secrets, config, clock: at, log }, ['doctor'])
      const all = text.split('\n')
      expect(all.at(-2)).toBe('')
      expect(all.at(-1)).toBe(ok ? WELL : NOT_WELL)
      for (const line of all.slice(0, -2)) expect(line).toMatch(/^[✓✗•] .*\S$/)
      return { ok, text, wrong: all.filter((line) => line.startsWith('✗')), checks: all.slice(0, -2) }
    },
  }
}

test('when all is well, each check has its line, and nothing changes: no key is pinned', async () => {
  const demo = await startDemo()
  const { doctor, folder, db } = await prepare(demo)
  const before = await readSettings(db)

  const { ok, checks, text } = await doctor()

  expect({ ok, checks }).toEqual({
    ok: true,
    checks: [
      '✓ La base de données répond.',
      expect.stringMatching(/^✓ \d+ Mio libres pour /),
      `✓ ${folder} n’est accessible qu’à son propriétaire.`,
      `✓ ${folder}/panel.db n’est accessible qu’à son propriétaire.`,
      `✓ ${folder}/secret.key n’est accessible qu’à son propriétaire.`,
      `✓ L’hôte répond à 127.0.0.1:${demo.port}.`,
      '✓ panel s’est connecté.',
      '✓ panel est root.',
      '✓ apt répond.',
      '✓ pct répond : 3 conteneurs.',
      '✓ Les deux horloges concordent.',
    ],
  })
  expect(text).not.toContain(demo.service.password)
  expect(await audited(db)).toEqual([])
  expect(await readSettings(db)).toEqual(before)
})

test('doctor closes its connection to the host', async () => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)

  await doctor()

  await expect.poll(() => demo.connections).toBe(0)
})

test.each([
  ['', 0o755, '700'],
  ['', 0o710, '700'],
  ['panel.db', 0o644, '600'],
  ['secret.key', 0o640, '600'],
  ['secret.key', 0o604, '600'],
])(
  '«%s» of the folder, open to others (%i), is reported with the command that closes it',
  async (name, mode, wanted) => {
    const { doctor, folder } = await prepare(await startDemo())
    const path = join(folder, name)
    await chmod(path, mode)

    const { ok, wrong } = await doctor()

    expect({ ok, wrong }).toEqual({
      ok: false,
      wrong: [`✗ ${path.replace(/\/$/, '')} est accessible à d’autres : chmod ${wanted} ${path.replace(/\/$/, '')}`],
    })
  },
)

test('with PANEL_SECRET_KEY doctor needs no key file', async () => {
  const env = { PANEL_SECRET_KEY: Buffer.alloc(32, 9).toString('base64') }
  const { doctor } = await prepare(await startDemo(), { env })

  const { ok, text } = await doctor()

  expect(ok).toBe(true)
  expect(text).not.toContain('secret.key')
})

test('a silent host is reported with advice, and its clock is not judged', async () => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)
  demo.accepting = false

  const { ok, wrong, text } = await doctor()

  expect(ok).toBe(false)
  expect(wrong[0]).toMatch(/^✗ Aucun serveur SSH ne répond à 127\.0\.0\.1:\d+ \(.+\)\. Vérifiez l’adresse/)
  expect(text).toContain('✓ La base de données répond.')
  expect(text).not.toContain('orloge')
})

test('a key other than the pinned one is reported, and no password is sent', async () => {
  const [demo, other] = [await startDemo(), await startDemo()]
  const { doctor, db } = await prepare(demo)
  await db.run(`INSERT INTO settings VALUES ('ssh_host_key', ?, '')`, [other.hostKey])

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong[0]).toMatch(/^✗ Une autre clé que celle indiquée répond à .*ssh-keygen -lf\.$/)
  expect(demo.commands).toEqual([])
})

test('a wrong password is reported, and not repeated', async () => {
  const demo = await startDemo()
  const { doctor, lines } = await prepare(demo, { password: 'not-the-password-4711' })

  const { ok, wrong, text } = await doctor()

  expect(ok).toBe(false)
  expect(wrong[0]).toMatch(/^✗ L’hôte refuse panel avec ce mot de passe ;/)
  expect(text).toContain('✓ L’hôte répond à')
  expect(text + lines().join('\n')).not.toContain('not-the-password-4711')
  expect(demo.commands).toEqual([])
})

test('a password that cannot be decrypted is reported with the command that sets it, and the host is not contacted', async () => {
  const demo = await startDemo()
  const { doctor, db } = await prepare(demo)
  await sealWithAnotherKey(db)

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toEqual([expect.stringMatching(/^✗ .*déchiffré.*« settings set ssh_password »\.$/)])
  expect(demo.commands).toEqual([])
})

test('without settings doctor explains how to make them', async () => {
  const { doctor } = await prepare()

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toEqual([expect.stringMatching(/^✗ .*incomplète.*« setup »/)])
})

test('an account without the rights gets the missing rule', async () => {
  const { none } = ACCOUNTS
  const demo = await startDemo({ users: ACCOUNTS })
  const { doctor } = await prepare(demo, { username: 'none', password: none?.password ?? '' })

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong[0]).toMatch(/^✗ none n’a pas les droits .* none ALL=\(root\) NOPASSWD: \/usr\/sbin\/ops-panel-host$/)
})

test('an account with a sudo rule gets the lines that it lacks for protected upgrades', async () => {
  const { rule } = ACCOUNTS
  const demo = await startDemo({ users: ACCOUNTS })
  const { doctor } = await prepare(demo, { username: 'rule', password: rule?.password ?? '' })
  demo.override = ([program, , path = '']) =>
    program === 'test' && /^\/usr\/(sbin\/(pct|lvs|pvesm)|bin\/vzdump)$/.test(path) ? Promise.resolve(0) : undefined

  const { ok, checks } = await doctor()

  expect(ok).toBe(true)
  expect(checks.slice(checks.findIndex((line) => line.includes('horloges')) + 1)).toEqual([
    '✓ Protection des mises à jour : la règle sudo de rule permet les instantanés, la restauration d’une sauvegarde.',
    expect.stringMatching(/^• .* ne permet pas lvs : .*rule ALL=\(root\) NOPASSWD: \/usr\/sbin\/lvs$/),
    expect.stringMatching(/^• .* ne permet pas vzdump : .*rule ALL=\(root\) NOPASSWD: \/usr\/bin\/vzdump$/),
    expect.stringMatching(/^• .* ne permet pas pvesm list, pvesm free : .*NOPASSWD: \/usr\/sbin\/pvesm$/),
  ])
  const changing = demo.commands.filter((words) => words.includes('snapshot') || words.includes('free'))
  expect(changing.length).toBeGreaterThan(0)
  for (const words of changing) expect(words.slice(0, 3)).toEqual(['sudo', '-n', '-l'])
})

test.each([
  [3_600, '3600'],
  [-3_600, '3600'],
  [45, '4[4-6]'],
])('a clock that is off by %i s is reported with the difference and a remedy', async (seconds, reported) => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)
  demo.override = (words, { stdout }) => {
    if (words[0] !== 'date') return undefined
    return stdout(`${Math.round(Date.now() / 1000) + seconds}\n`).then(() => 0)
  }

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toHaveLength(1)
  expect(wrong[0]).toMatch(new RegExp(`^✗ L’horloge de l’hôte diffère de (${reported}|3599|3601) s : .*timedatectl`))
})

test('a clock that is off by a few seconds is accepted', async () => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)

  const { ok, text } = await doctor(() => new Date(Date.now() - 20_000))

  expect(ok).toBe(true)
  expect(text).toContain('✓ Les deux horloges concordent.')
})

test.each([
  ['that fails', () => Promise.resolve(1)],
  ['that gives no number', ({ stdout }: Process) => stdout('yesterday\n').then(() => 0)],
])('a clock %s is reported', async (_, run) => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)
  demo.override = (words, io) => (words[0] === 'date' ? run(io) : undefined)

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toEqual([expect.stringMatching(/^✗ L’horloge de l’hôte n’a pas pu être lue \(.*\)\.$/)])
})

test('a host without the container tool is accepted, and one with a failing tool is not', async () => {
  const demo = await startDemo()
  const { doctor } = await prepare(demo)
  let there = 1
  demo.override = (words) => {
    if (words[0] === '/usr/sbin/pct') return Promise.resolve(127)
    return words[0] === 'test' ? Promise.resolve(there) : undefined
  }

  const without = await doctor()
  there = 0
  const failing = await doctor()

  expect(without).toMatchObject({ ok: true, wrong: [] })
  expect(without.text).toContain('• Il n’y a pas de pct sur cet hôte : seul l’hôte lui-même peut être mis à jour.')
  expect(failing.ok).toBe(false)
  expect(failing.wrong).toEqual([expect.stringMatching(/^✗ pct ne répond pas/)])
})

test.each([
  ['is empty', '', /^✗ La base est vide/],
  ['is none', 'not a database, but long enough to be read as one. '.repeat(40), /^✗ La base de données ne s’ouvre pas/],
])('a database file that %s is reported, and the remaining checks still run', async (_, bytes, reported) => {
  const { doctor, folder, db } = await prepare(await startDemo())
  await db.close()
  // Another file: this process still holds a lock on the one that it closed.
  for (const suffix of ['', '-wal', '-shm']) await rm(join(folder, `panel.db${suffix}`), { force: true })
  await writeFile(join(folder, 'panel.db'), bytes, { mode: 0o600 })

  const { ok, wrong, text } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toEqual([expect.stringMatching(reported)])
  expect(text).toContain('Mio libres')
})

test('a database of an older version is reported, and stays unchanged', async () => {
  const { doctor, db } = await prepare(await startDemo())
  await db.run('DELETE FROM schema_version WHERE version = ?', [SCHEMA_VERSION])

  const { ok, wrong } = await doctor()

  expect({ ok, wrong }).toEqual({
    ok: false,
    wrong: [expect.stringMatching(/^✗ La base est d’une version antérieure/)],
  })
  expect(await schemaVersion(db)).toBe(SCHEMA_VERSION - 1)
})

test('a folder without data is reported with the variable that names it, and none are created', async () => {
  const folder = join(await temporaryFolder(), 'nowhere')

  const { code, stdout, stderr } = await runProgram({ PANEL_DATA_DIR: folder }, 'doctor')

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toBe(`✗ Aucune base de données : ${folder}/panel.db. Indiquez PANEL_DATA_DIR.\n\n${NOT_WELL}\n`)
  await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a key file without a key is reported', async () => {
  const { doctor, folder } = await prepare(await startDemo())
  await writeFile(join(folder, 'secret.key'), 'short')

  const { wrong } = await doctor()

  expect(wrong).toEqual([`✗ ${folder}/secret.key ne contient pas 32 octets en base64.`])
})

test('a damaged database is reported', async () => {
  const { doctor, folder, db } = await prepare(await startDemo())
  for (let n = 0; n < 200; n += 1)
    await db.run('INSERT INTO settings VALUES (?, ?, ?)', [`filler${n}`, 'x'.repeat(2_000), ''])
  await db.close()
  const file = await open(join(folder, 'panel.db'), 'r+')
  await file.write(Buffer.alloc(16_000, 7), 0, 16_000, 16_384 * 12)
  await file.close()

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong[0]).toMatch(/^✗ La base de données (est endommagée|ne répond pas|ne s’ouvre pas) \(.+\)\./)
})

/** Returns doctor's line about the hypervisor, which is the last. */
async function ofHypervisor(hypervisor: TestHypervisor, more: SettingValues = {}) {
  const { doctor, db, secrets, log } = await prepare(await startDemo())
  const settings = createSettings({ db, secrets, clock: () => new Date(), log })
  const { url, token, fingerprint } = hypervisor
  await settings.change({ hypervisor_url: url, hypervisor_token: token, hypervisor_fingerprint: fingerprint, ...more })
  const { ok, checks, text } = await doctor()
  expect(text).not.toContain(token.split('=')[1])
  return { ok, last: checks.at(-1) }
}

test('a working hypervisor is reported with its node and the number of visible containers', async () => {
  expect(await ofHypervisor(await testHypervisor())).toEqual({
    ok: true,
    last: '✓ L’hyperviseur répond : 3 conteneurs sur pve.',
  })
})

test('an untrusted certificate is reported, with its fingerprint, before the token is sent', async () => {
  const hypervisor = await testHypervisor()

  const { ok, last } = await ofHypervisor(hypervisor, { hypervisor_fingerprint: `${'AB:'.repeat(31)}AB` })

  expect(ok).toBe(false)
  expect(last).toMatch(/^✗ Le certificat de l’hyperviseur /)
  expect(last).toContain(hypervisor.fingerprint)
  expect(hypervisor.requests).toEqual([])
})

test('a token without the right to start and stop is reported, and so is one without any right', async () => {
  const [looking, blind] = [await testHypervisor(), await testHypervisor()]
  looking.permissions = { '/': { 'VM.Audit': 1 } }
  blind.permissions = {}

  expect(await ofHypervisor(looking)).toMatchObject({ ok: false, last: expect.stringContaining('VM.PowerMgmt') })
  expect(await ofHypervisor(blind)).toMatchObject({ ok: false, last: expect.stringContaining('VM.Audit') })
})

const WITHOUT_RULE = 'Sans règle sudo pour pct snapshot, les instantanés avant les mises à jour passent par l’API'

test.each<[string, (hypervisor: TestHypervisor) => void, string[]]>([
  ['all rights', () => {}, [`✓ ${WITHOUT_RULE} de l’hyperviseur.`]],
  [
    'no right to make them',
    ({ permissions }) => delete permissions['/']?.['VM.Snapshot'],
    [`• ${WITHOUT_RULE} de l’hyperviseur, mais le jeton n’en a pas le droit (VM.Snapshot).`],
  ],
  [
    'no right to see the storages',
    ({ permissions }) => delete permissions['/']?.['Datastore.Audit'],
    [
      `✓ ${WITHOUT_RULE} de l’hyperviseur.`,
      '• Le jeton n’a pas Datastore.Audit : un pool presque plein n’est pas vu avant un instantané.',
    ],
  ],
  [
    'the API of another machine',
    (hypervisor) => {
      hypervisor.nodes = [{ node: 'pve2' }]
      hypervisor.containers.set('pve2', [])
    },
    [`• ${WITHOUT_RULE} de l’hyperviseur, mais aucun de ses nœuds n’a le nom de l’hôte (pve).`],
  ],
])('where sudo allows no snapshots, the API is checked for them: %s', async (_title, prepared, lines) => {
  const hypervisor = await testHypervisor()
  prepared(hypervisor)
  const demo = await startDemo({ users: ACCOUNTS })
  demo.override = (words) =>
    words.slice(0, 5).join(' ') === 'sudo -n -l /usr/sbin/pct rollback' ? Promise.resolve(1) : undefined
  const { url, token, fingerprint } = hypervisor
  const ofApi = { hypervisor_url: url, hypervisor_token: token, hypervisor_fingerprint: fingerprint }
  const checked = async (username: 'rule' | 'root') => {
    const password = username === 'rule' ? ACCOUNTS.rule?.password : undefined
    const { doctor, db, secrets, log } = await prepare(demo, { ...(password && { username, password }) })
    await createSettings({ db, secrets, clock: () => new Date(), log }).change(ofApi)
    return (await doctor()).checks
  }

  expect((await checked('rule')).slice(-lines.length)).toEqual(lines)

  expect((await checked('root')).join('\n')).not.toContain('instantanés avant les mises à jour')
})

test('an incomplete hypervisor setting is reported, and is not an error', async () => {
  const { doctor, db, secrets, log } = await prepare(await startDemo())
  await createSettings({ db, secrets, clock: () => new Date(), log }).change({ hypervisor_url: 'https://pve:8006' })

  const { ok, checks } = await doctor()

  expect(ok).toBe(true)
  expect(checks.at(-1)).toMatch(/^• .*« settings set hypervisor_token »/)
})

/** Returns doctor's line about a certificate with these days before and after today, and about its key. */
async function ofCertificate({ from = -60, until = 30, key = '', mode = 0o640 } = {}) {
  const files = await temporaryFolder()
  const at = (days: number) => new Date(Date.now() + days * 86_400_000 + 3_600_000)
  const pair = selfSigned('panel.test', { from: at(from), until: at(until) })
  const env = { PANEL_TLS_CERT: join(files, 'cert.pem'), PANEL_TLS_KEY: join(files, 'key.pem') }
  await writeFile(env.PANEL_TLS_CERT, pair.cert)
  await writeFile(env.PANEL_TLS_KEY, key || pair.key)
  await chmod(env.PANEL_TLS_KEY, mode)
  const { doctor } = await prepare(await startDemo(), { env })
  const { ok, checks } = await doctor()
  const lines = checks.filter((line) => /TLS|key\.pem/.test(line))
  return { ok, lines: lines.map((line) => line.replaceAll(`${files}/`, '')) }
}

const WELL_CERTIFICATE = {}
const NAME = 'Le certificat TLS (CN=panel.test)'

test.each([
  ['well', WELL_CERTIFICATE, [`✓ ${NAME} va avec sa clé et vaut encore 30 jours.`]],
  ['about to end', { until: 3 }, [`✗ ${NAME} ne vaut plus que 3 jours : il aurait dû être renouvelé.`]],
  ['ended', { until: -1 }, [expect.stringMatching(/^✗ .* a expiré le \d{4}-\d\d-\d\d : renouvelez-le/)]],
  [
    'with another key',
    { key: selfSigned().key },
    ['✗ PANEL_TLS_CERT, PANEL_TLS_KEY : key.pem n’est pas la clé du certificat de cert.pem.'],
  ],
  [
    'with a key that all may read',
    { mode: 0o644 },
    [expect.stringMatching(/^✓/), '✗ key.pem est lisible par tous : chmod o= key.pem'],
  ],
])('a certificate that is %s is reported so', async (_, certificate, lines) => {
  expect(await ofCertificate(certificate)).toEqual({ ok: certificate === WELL_CERTIFICATE, lines })
})

test('an unreadable certificate is reported with the reason', async () => {
  const env = { PANEL_TLS_CERT: '/nonexistent/cert.pem', PANEL_TLS_KEY: '/nonexistent/key.pem' }
  const { doctor } = await prepare(await startDemo(), { env })

  const { ok, wrong } = await doctor()

  expect(ok).toBe(false)
  expect(wrong).toEqual([expect.stringMatching(/^✗ PANEL_TLS_CERT : .*cert\.pem ne peut pas être lu \(ENOENT/)])
})

test.each([
  [0o755, '✓ modules n’est modifiable que par son propriétaire.'],
  [0o775, '✗ modules est modifiable par d’autres : chmod go-w modules'],
  [0o707, '✗ modules est modifiable par d’autres : chmod go-w modules'],
])('doctor checks the folder of the modules: %i', async (mode, line) => {
  const { doctor, folder } = await prepare(await startDemo())
  await mkdir(join(folder, 'modules'))
  await chmod(join(folder, 'modules'), mode)

  const { ok, checks } = await doctor()

  expect(ok).toBe(line.startsWith('✓'))
  expect(checks.map((each) => each.replaceAll(`${folder}/`, ''))).toContain(line)
})

test.runIf(process.getuid?.() === 0)('modules that belong to another account than the data are reported', async () => {
  const { doctor, folder } = await prepare(await startDemo())
  const modules = join(folder, 'modules')
  await mkdir(modules)
  await chown(modules, 65_534, 65_534)

  const { wrong } = await doctor()

  expect(wrong).toEqual([`✗ ${modules} appartient à un autre compte que le dossier des données : chown 0 ${modules}`])
})

test('an unreachable libSQL server is named, with the network’s message', async () => {
  const port = await freePort()
  const folder = await temporaryFolder()
  const env = {
    PANEL_DATA_DIR: folder,
    PANEL_DATABASE_URL: `http://127.0.0.1:${port}`,
    PANEL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }

  const { code, stdout } = await runProgram(env, 'doctor')

  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^✗ La base de données ne s’ouvre pas \(.*ECONNREFUSED.*\)\. Vérifiez le serveur libSQL 127\.0\.0\.1:/m,
  )
})
