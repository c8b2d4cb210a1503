import { readdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, expect, test, vi } from 'vitest'
import { openDatabase } from '../../../db/libsql/client.ts'
import { readSettings } from '../../../db/settings.ts'
import { createSettings } from '../../../functions/services.ts'
import { createLog } from '../../../platform/log.ts'
import { createSecrets, loadSecretKey } from '../../../platform/secrets.ts'
import { createSetupToken } from '../../../functions/install/setup-token.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { freePort } from '../../free-port.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startAtTerminal, startProgram } from '../../serve/program.ts'
import { audited } from '../answers.ts'

beforeAll(() => {
  // Each test starts the program, which takes seconds on a busy machine.
  vi.setConfig({ testTimeout: 60_000 })
})

const { log } = createLog({ level: 'silent', write: () => {} })

/** A folder with a setup token, and a host to install. */
async function prepare() {
  const [demo, folder] = [await startDemo(), await temporaryFolder()]
  await createSetupToken(folder).make()
  const { username, password } = demo.service
  return {
    demo,
    folder,
    env: { PANEL_DATA_DIR: folder },
    answers: { host: `127.0.0.1:${demo.port}`, username, password },
  }
}

/** Returns the database's contents after the command. */
async function stored(folder: string) {
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    const secrets = createSecrets(await loadSecretKey(folder))
    const settings = createSettings({ db, secrets, clock: () => new Date(), log })
    const values = await readSettings(db)
    const account = values.size === 0 ? undefined : await settings.sshAccount()
    return { values, account, audit: await audited(db), token: (await readdir(folder)).includes('setup-token') }
  } finally {
    await db.close()
  }
}

const NOTHING = { values: new Map(), account: undefined, audit: [], token: true }

/** Runs setup with all of the lines on its input, which then ends. */
async function setup(env: Record<string, string>, ...lines: string[]) {
  const program = startProgram(env, 'setup')
  program.type(lines.map((line) => `${line}\n`).join(''))
  program.endInput()
  const code = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

type Program = ReturnType<typeof startProgram>
type Answers = Awaited<ReturnType<typeof prepare>>['answers']

/** Answers each question when it is asked, up to the password; `enter` ends a line. */
async function answerUpToPassword(program: Program, { host, username }: Answers, enter: string): Promise<void> {
  for (const [question, answer] of [
    ['IPv6]:port) : ', host],
    ['(oui/non) ', 'oui'],
    ['par exemple) : ', username],
  ] as const) {
    await program.said(question)
    program.type(answer + enter)
  }
  await program.said(`Mot de passe de ${username} : `)
}

/** Not even four consecutive characters of it were shown. */
function expectHidden(program: Program, password: string): void {
  for (let at = 0; at + 4 <= password.length; at += 1)
    expect(program.stdout() + program.stderr()).not.toContain(password.slice(at, at + 4))
}

test.each(['oui', ' Y '])('confirmed with « %s », the typed values are stored with the host’s key', async (yes) => {
  const { demo, folder, env, answers } = await prepare()

  const { code, stdout, stderr } = await setup(env, answers.host, yes, answers.username, answers.password)

  expect(code).toBe(0)
  expect(stdout).toMatch(/\nInstallation terminée : connectez-vous avec un compte de l’hôte\.\n$/)
  expect(stderr).toContain(`Clé de l’hôte : ${demo.hostKey}\n`)
  expect(stdout).toContain(`✓ L’hôte répond à ${answers.host}.`)
  expect(stdout).not.toContain('✗')
  expect(stdout + stderr).not.toContain(answers.password)
  const { values, account, audit, token } = await stored(folder)
  expect(account).toEqual({
    host: '127.0.0.1',
    port: demo.port,
    address: `127.0.0.1:${demo.port}`,
    hostKey: demo.hostKey,
    username: answers.username,
    password: answers.password,
  })
  expect([...values.values()].join('\n')).not.toContain(answers.password)
  expect(token).toBe(false)
  expect(audit).toEqual([
    {
      at: expect.any(String),
      action: 'installed',
      user_id: null,
      username: userInfo().username,
      target: answers.host,
      ip: 'console',
      details: null,
    },
  ])
})

test('slow answers, one by one, give the same result, and an open input does not delay it', async () => {
  const { folder, env, answers } = await prepare()
  const program = startProgram(env, 'setup')

  await answerUpToPassword(program, answers, '\n')
  program.type(`${answers.password}\n`)

  expect(await program.ended).toBe(0)
  expect((await stored(folder)).account).toMatchObject({ username: answers.username, password: answers.password })
})

test.each(['non', '', 'ouiii'])(
  'with « %s » for the key no password is sent, nothing is stored, and setup exits with 1',
  async (no) => {
    const { demo, folder, env, answers } = await prepare()

    const { code, stdout, stderr } = await setup(env, answers.host, no, answers.username, answers.password)

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(demo.hostKey)
    expect(stderr).toMatch(/ops-panel : rien n’a été enregistré\.\n$/)
    expect(stderr).not.toContain(answers.password)
    expect(demo.signIns).toEqual([])
    expect(await stored(folder)).toEqual(NOTHING)
  },
)

test('a wrong password is reported with the successful steps, stores nothing and exits with 1', async () => {
  const { demo, folder, env, answers } = await prepare()
  const wrong = 'not-the-password-4711'

  const { code, stdout, stderr } = await setup(env, answers.host, 'oui', answers.username, wrong)

  expect(code).toBe(1)
  expect(stdout).toMatch(/^✓ L’hôte répond à /)
  expect(stdout).toMatch(/^✗ L’hôte refuse panel avec ce mot de passe ;/m)
  expect(stdout + stderr).not.toContain(wrong)
  expect(demo.commands).toEqual([])
  expect(await stored(folder)).toEqual(NOTHING)
})

test('a silent host is reported, stores nothing and exits with 1', async () => {
  const { demo, folder, env, answers } = await prepare()
  demo.accepting = false

  const { code, stdout, stderr } = await setup(env, answers.host, 'oui', answers.username, answers.password)

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`ops-panel : aucun serveur SSH ne répond à ${answers.host} (`)
  expect(stdout + stderr).not.toContain(answers.password)
  expect(await stored(folder)).toEqual(NOTHING)
})

test('setup repeats the question for the host, with an explanation, until the answer is valid', async () => {
  const { folder, env, answers } = await prepare()
  const wrong = ['', 'pve:0', 'a b', '[::1']

  const { code, stderr } = await setup(env, ...wrong, answers.host, 'oui', '', answers.username, answers.password)

  expect(code).toBe(0)
  expect(stderr.match(/Hôte \(/g)).toHaveLength(wrong.length + 1)
  expect(stderr.match(/Compte de service/g)).toHaveLength(2)
  expect(stderr).toContain('. Hôte (hôte, hôte:port ou [IPv6]:port) : ')
  expect((await stored(folder)).values.get('ssh_host')).toBe(answers.host)
})

test('without a password a key waits for its line on the host, and nothing is tried or installed before', async () => {
  const { demo, folder, env, answers } = await prepare()

  const { code, stdout, stderr } = await setup(env, answers.host, 'oui', answers.username, '')

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/ops-panel : interrompu : rien n’a été enregistré\.\n$/)
  expect([demo.signIns, demo.commands]).toEqual([[], []])
  const db = await openDatabase(`file:${folder}/panel.db`)
  expect([...(await readSettings(db)).keys()]).toEqual(['ssh_key_next'])
  await db.close()
  expect(await readdir(folder)).toContain('setup-token')
})

test.each([0, 1, 2, 3])(
  'when the input ends after %i answers, setup says so in French, stores nothing and exits with 1',
  async (count) => {
    const { folder, env, answers } = await prepare()

    const { code, stdout, stderr } = await setup(env, ...[answers.host, 'oui', answers.username].slice(0, count))

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/ops-panel : interrompu : rien n’a été enregistré\.\n$/)
    expect(stderr).not.toContain(answers.password)
    expect(await stored(folder)).toEqual(NOTHING)
  },
)

test('a second setup is refused before any question, and the stored settings stay', async () => {
  const { folder, env, answers } = await prepare()
  await setup(env, answers.host, 'oui', answers.username, answers.password)
  const before = await stored(folder)

  const { code, stdout, stderr } = await setup(env, '192.0.2.1', 'oui', 'root', 'another-password')

  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: 'ops-panel : l’installation est déjà faite. Voir « settings get » et « settings set ».\n',
  })
  expect(await stored(folder)).toEqual(before)
})

test('at a terminal the password is not echoed, and everything else is', async () => {
  const { folder, env, answers } = await prepare()
  const program = startAtTerminal(env, 'setup')

  await answerUpToPassword(program, answers, '\r')
  program.type(`${answers.password}\r`)

  expect(await program.ended).toBe(0)
  const shown = stripVTControlCharacters(program.stdout())
  expect(shown).toContain(`: ${answers.username}`)
  expect(shown).toContain('(oui/non) oui')
  expectHidden(program, answers.password)
  expect((await stored(folder)).account).toMatchObject({ password: answers.password })
})

test('Ctrl-C at a terminal, in the middle of the password, stores nothing and exits with 1', async () => {
  const { folder, env, answers } = await prepare()
  const program = startAtTerminal(env, 'setup')

  await answerUpToPassword(program, answers, '\r')
  program.type(`${answers.password.slice(0, 9)}\x03`)

  expect(await program.ended).toBe(1)
  expect(program.stdout()).toContain('interrompu : rien n’a été enregistré.')
  expect(program.stdout()).not.toContain(answers.password.slice(0, 9))
  expect(await stored(folder)).toEqual(NOTHING)
})

test('input pasted at a terminal all at once does not show the password either', async () => {
  const { folder, env, answers } = await prepare()
  const program = startAtTerminal(env, 'setup')
  await program.said('IPv6]:port) : ')

  program.type([answers.host, 'oui', answers.username, answers.password].map((line) => `${line}\r`).join(''))

  expect(await program.ended).toBe(0)
  expectHidden(program, answers.password)
  expect((await stored(folder)).account).toMatchObject({ password: answers.password })
})

test('Ctrl-C at a terminal during the check of the host ends it, and nothing is stored', async () => {
  const { demo, folder, env, answers } = await prepare()
  const program = startAtTerminal(env, 'setup')
  demo.override = () => new Promise(() => {})
  await program.said('IPv6]:port) : ')
  program.type([answers.host, 'oui', answers.username, answers.password].map((line) => `${line}\r`).join(''))
  await expect.poll(() => demo.commands.length).toBeGreaterThan(0)

  program.type('\x03')

  expect(await program.ended).not.toBe(0)
  expect(await stored(folder)).toEqual(NOTHING)
})

test('at a terminal a silent host and a wrong password are reported, and the question is repeated', async () => {
  const { demo, folder, env, answers } = await prepare()
  const nobody = `127.0.0.1:${await freePort()}`
  const wrong = '4711-zqxj-8812'
  const program = startAtTerminal(env, 'setup')
  await program.said('IPv6]:port) : ')
  // Pasted too early: answers to questions that are not asked.
  program.type(`${nobody}\r${['oui', answers.username, answers.password].map((line) => `${line}\r`).join('')}`)
  await program.said(`aucun serveur SSH ne répond à ${nobody}`)

  await answerUpToPassword(program, answers, '\r')
  program.type(`${wrong}\r`)
  await program.said('L’hôte refuse panel avec ce mot de passe')
  expect(demo.commands).toEqual([])
  await program.said('par exemple) : ')
  program.type(`${answers.username}\r`)
  await program.said(`Mot de passe de ${answers.username} : `)
  program.type(`${answers.password}\r`)

  expect(await program.ended).toBe(0)
  expectHidden(program, answers.password)
  expectHidden(program, wrong)
  expect((await stored(folder)).account).toMatchObject({ password: answers.password })
})
