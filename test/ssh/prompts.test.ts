import { once } from 'node:events'
import ssh2, { type AuthContext, type AuthenticationType, type Connection, type KeyboardAuthContext } from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { newHostKey } from '../../demo/host-key.ts'
import { connect, type SshError } from '../../ssh/connection.ts'
import type { Ask, Prompt } from '../../ssh/login/prompts.ts'

const PASSWORD = 'secret of alice'
const CODE = { prompt: 'Verification code: ', echo: true }

interface Round {
  name?: string
  instruction?: string
  prompts: { prompt: string; echo?: boolean }[]
}

/** A server whose login `decide` decides. Records the methods, in order, and every text that a client sent. */
async function serve(decide: (context: AuthContext, connection: Connection) => void) {
  const seen: { methods: string[]; texts: string[] } = { methods: [], texts: [] }
  const server = new ssh2.Server({ hostKeys: [newHostKey()] }, (connection) => {
    connection.on('authentication', (context) => {
      seen.methods.push(context.method)
      if (context.method === 'password') seen.texts.push(context.password)
      decide(context, connection)
    })
    connection.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const account = { address: '', host: '127.0.0.1', port, username: 'alice', password: PASSWORD, hostKey: '' }
  return { seen, account }
}

/** Asks the rounds one after the other, and lets in whoever gave the right answers. */
async function asking(rounds: readonly Round[], right: readonly string[][]) {
  const answers: string[][] = []
  const ask = (context: KeyboardAuthContext, left: readonly Round[]) => {
    const [round, ...rest] = left
    if (!round) {
      if (JSON.stringify(answers) === JSON.stringify(right)) context.accept()
      else context.reject(['keyboard-interactive'])
      return
    }
    const prompts = round.prompts.map(({ prompt, echo = false }) => ({ prompt, echo }))
    context.prompt(prompts, round.name ?? '', round.instruction ?? '', (given) => {
      answers.push(given)
      ask(context, rest)
    })
  }
  const served = await serve((context) => {
    if (context.method === 'keyboard-interactive') ask(context, rounds)
    else context.reject(['keyboard-interactive'])
  })
  return { ...served, answers }
}

/** A person who gives these answers, round by round; records what was shown. */
function person(...answers: string[][]) {
  const shown: (readonly Prompt[])[] = []
  const ask: Ask = async (prompts) => {
    shown.push(prompts)
    return answers[shown.length - 1] ?? []
  }
  return { shown, ask }
}

const PASSWORD_ROUND: Round = { prompts: [{ prompt: 'Password: ' }] }
const reasonOf = (tried: Promise<unknown>) =>
  tried.then(
    () => 'in',
    ({ reason }: SshError) => reason,
  )

test('a code that the host asks after the password comes from the person', async () => {
  const { account, seen, answers } = await asking([PASSWORD_ROUND, { prompts: [CODE] }], [[PASSWORD], ['123456']])
  const { shown, ask } = person(['123456'])

  const connection = await connect(account, undefined, undefined, ask)
  connection.end()

  expect(shown).toEqual([[{ text: 'Verification code:', echo: true }]])
  expect(answers).toEqual([[PASSWORD], ['123456']])
  expect(seen.methods).toEqual(['none', 'keyboard-interactive'])
})

test.each([
  ['Verification code: ', 'libpam-google-authenticator'],
  ["One-time password (OATH) for `alice': ", 'pam_oath'],
  ['Password & verification code: ', 'a password and a code in one'],
  ["YubiKey for `alice': ", 'pam_yubico'],
  ['Enter PASSCODE: ', 'SecurID'],
])('a hidden question %j before that for the password is not answered with the password: %s', async (prompt) => {
  const rounds = [{ prompts: [{ prompt }] }, PASSWORD_ROUND]
  const { account } = await asking(rounds, [['123456'], [PASSWORD]])
  const { shown, ask } = person(['123456'])

  const connection = await connect(account, undefined, undefined, ask)
  connection.end()

  expect(shown).toEqual([[{ text: prompt.trim(), echo: false }]])
})

test('an expired password is changed: the host’s own words are shown, and the old password is sent once by itself', async () => {
  const told = 'You are required to change your password immediately (administrator enforced).\r\nCurrent password: '
  const rounds: Round[] = [
    PASSWORD_ROUND,
    { prompts: [{ prompt: told }] },
    { prompts: [{ prompt: 'New password: ' }] },
    { prompts: [{ prompt: 'Retype new password: ' }] },
  ]
  const { account } = await asking(rounds, [[PASSWORD], [PASSWORD], ['new one'], ['new one']])
  const { shown, ask } = person([PASSWORD], ['new one'], ['new one'])

  const connection = await connect(account, undefined, undefined, ask)
  connection.end()

  expect(shown.map(([prompt]) => prompt?.text)).toEqual([
    'You are required to change your password immediately (administrator enforced).\nCurrent password:',
    'New password:',
    'Retype new password:',
  ])
})

test('of several questions in one round the person answers all but the password, and the order stays', async () => {
  const round = { prompts: [{ prompt: 'Site: ', echo: true }, { prompt: 'Password: ' }, { prompt: 'PIN: ' }] }
  const { account } = await asking([round], [['Paris', PASSWORD, '42']])
  const { shown, ask } = person(['Paris', '42'])

  const connection = await connect(account, undefined, undefined, ask)
  connection.end()

  expect(shown).toEqual([
    [
      { text: 'Site:', echo: true },
      { text: 'PIN:', echo: false },
    ],
  ])
})

test('texts of the host are bounded, and control characters are shown', async () => {
  const prompt = `\u001b[2J\u202e${'x'.repeat(5_000)}`
  const rounds: Round[] = [{ name: 'Duo\u0007', instruction: 'Two\r\nlines', prompts: [{ prompt, echo: true }] }]
  const { account } = await asking(rounds, [['a']])
  const { shown, ask } = person(['a'])

  const connection = await connect(account, undefined, undefined, ask)
  connection.end()

  const [text = ''] = shown.flatMap((prompts) => prompts.map((each) => each.text))
  expect(text).toMatch(/^Duo\\u\{7\}\nTwo\nlines\n\\u\{1b\}\[2J\\u\{202e\}x+$/)
  expect(text).toHaveLength(1_000)
})

test('wrong answers are refused, and nothing is tried a second time', async () => {
  const { account, seen } = await asking([PASSWORD_ROUND, { prompts: [CODE] }], [[PASSWORD], ['123456']])

  expect(await reasonOf(connect(account, undefined, undefined, person(['000000']).ask))).toBe('bad_credentials')

  expect(seen.methods).toEqual(['none', 'keyboard-interactive'])
})

test('where nobody can be asked the connection ends, and the host gets no made-up answer', async () => {
  const { account, answers } = await asking([PASSWORD_ROUND, { prompts: [CODE] }], [])

  const error = await connect(account).catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({ reason: 'asks_more', message: 'l’hôte demande plus que le mot de passe de alice' })
  expect(answers).toEqual([[PASSWORD]])
})

test.each([
  ['eleven rounds', Array.from({ length: 11 }, () => ({ prompts: [CODE] }))],
  ['eleven questions in a round', [{ prompts: Array.from({ length: 11 }, () => CODE) }]],
])('a host that asks %s is given up', async (_, rounds: Round[]) => {
  const { account, answers } = await asking(rounds, [])
  const { shown, ask } = person(...Array.from({ length: 11 }, () => ['a']))

  expect(await reasonOf(connect(account, undefined, undefined, ask))).toBe('asks_more')

  expect(shown.length).toBe(rounds.length - 1)
  expect(answers).toHaveLength(rounds.length - 1)
})

test('ten rounds of ten questions are asked', async () => {
  const ten = Array.from({ length: 10 }, () => 'a')
  const rounds = ten.map(() => ({ prompts: ten.map(() => CODE) }))
  const right = ten.map(() => ten)
  const { account } = await asking(rounds, right)

  expect(await reasonOf(connect(account, undefined, undefined, person(...right).ask))).toBe('in')
})

test('a host that ends the connection while it waits for an answer is no wrong password', async () => {
  const { account } = await serve((context, connection) => {
    if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive'])
    context.prompt([CODE], () => {})
    setImmediate(() => connection.end())
  })

  const error = await connect(account, undefined, undefined, () => new Promise(() => {})).catch(
    (thrown: unknown) => thrown,
  )

  expect(error).toMatchObject({ reason: 'lost', message: 'l’hôte a mis fin à la connexion avant la réponse' })
})

test.each<[string, AuthenticationType[]]>([
  ['publickey', ['publickey']],
  ['publickey, hostbased', ['publickey', 'hostbased']],
])('a host that takes only %s gets no password, and is not told to be one with a wrong one', async (named, offered) => {
  const { account, seen } = await serve((context) => context.reject(offered))

  const error = await connect(account).catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({
    reason: 'no_passwords',
    message: `l’hôte n’accepte pas de mot de passe pour alice, seulement : ${named}`,
  })
  expect(seen).toEqual({ methods: ['none'], texts: [] })
})

test('a host that wants a new password by a message of SSH is told at once, and gets none', async () => {
  const given: string[] = []
  const { account, seen } = await serve((context) => {
    if (context.method !== 'password') return context.reject(['password'])
    context.requestChange('Your password has expired.', (text) => void given.push(text))
  })

  const error = await connect(account).catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({
    reason: 'password_expired',
    message: 'le mot de passe de alice a expiré : il doit être changé par ssh',
  })
  expect(seen).toEqual({ methods: ['none', 'password'], texts: [PASSWORD] })
  expect(given).toEqual([])
})

test('a host that lets an account in without any proof lets nobody in here', async () => {
  const none = await serve((context) => context.accept())
  const silent = await serve((context) => {
    if (context.method === 'keyboard-interactive') context.accept()
    else context.reject(['keyboard-interactive'])
  })

  for (const { account } of [none, silent]) {
    const error = await connect(account).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ reason: 'bad_credentials', message: expect.stringContaining('sans mot de passe') })
  }
})

test('keyboard-interactive that fails without a question leaves the password to the other method', async () => {
  const { account, seen } = await serve((context) => {
    if (context.method === 'password' && context.password === PASSWORD) context.accept()
    else context.reject(['keyboard-interactive', 'password'])
  })

  expect(await reasonOf(connect(account))).toBe('in')

  expect(seen.methods).toEqual(['none', 'keyboard-interactive', 'password'])
  expect(seen.texts).toEqual([PASSWORD])
})

test('a host that wants the password and then questions gets both', async () => {
  const { account, seen } = await serve((context) => {
    if (context.method === 'password') context.reject(['keyboard-interactive'], context.password === PASSWORD)
    else if (context.method === 'keyboard-interactive')
      context.prompt([CODE], ([code]) => (code === '123456' ? context.accept() : context.reject()))
    else context.reject(['password'])
  })

  expect(await reasonOf(connect(account, undefined, undefined, person(['123456']).ask))).toBe('in')
  expect(await reasonOf(connect(account, undefined, undefined, person(['999']).ask))).toBe('bad_credentials')

  expect(seen.methods.slice(0, 3)).toEqual(['none', 'password', 'keyboard-interactive'])
})
