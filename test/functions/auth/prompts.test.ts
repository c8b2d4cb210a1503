import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import stepUp from '../../../functions/access/step-up.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import { SshError } from '../../../ssh/connection.ts'
import { createHost } from '../../../ssh/host.ts'
import { mount, testApp } from '../../app.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, audited, decoded, rows } from '../answers.ts'

const [LOGIN, ANSWERS, STEP_UP] = ['/api/auth/login', '/api/auth/login/answers', '/api/auth/step-up']
const ALICE = { username: 'alice', password: 'right horse' }
const CODE = '123456'

const Asked = z.strictObject({
  error: z.string(),
  code: z.enum(['more_asked', 'proof_more_asked']),
  challenge: z.string(),
  prompts: z.array(z.strictObject({ text: z.string(), echo: z.boolean() })),
})
const Refused = z.looseObject({ code: z.string() })
const SignedIn = z.looseObject({ access_token: z.string() })

/** The service with a host that asks alice for a code, and bob for nothing more. */
async function panel({ asksPeople = true, bootId = 'boot-1' } = {}) {
  const asks = [{ prompt: 'Verification code: ', answer: CODE }]
  const user = { password: ALICE.password, groups: ['people'] }
  const demo = await startDemo({
    users: { alice: { ...user, uid: 1200, asks }, bob: { ...user, uid: 1201 }, carol: { ...user, uid: 1202, asks } },
  })
  const { username, password } = demo.service
  const app = await testApp([], { ssh: { host: `127.0.0.1:${demo.port}`, username, password } })
  const instance = (id: string) => {
    const host = createHost({ ...app.services, asksPeople })
    onTestFinished(() => host.close())
    const services = { ...app.services, host, boot: { ...app.services.boot, id } }
    const { request } = mount([login, loginAnswers, stepUp, me], services)
    let sent = 0
    return (path: string, body: unknown, token?: string) => {
      sent += 1
      const headers = {
        'x-forwarded-for': `192.0.2.${sent}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }
      return request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    }
  }
  const post = instance(bootId)
  /** Signs in up to the question of the host. */
  const asked = async (path = LOGIN, body: unknown = ALICE, token?: string) => {
    const response = await post(path, body, token)
    expect(response.headers.get('set-cookie')).toBeNull()
    return Asked.parse(await response.json())
  }
  const signIn = async (username: string) => {
    const { challenge } = await asked(LOGIN, { ...ALICE, username })
    return SignedIn.parse(await answered(await post(ANSWERS, { challenge, answers: [CODE] }), 200)).access_token
  }
  return { ...app, demo, post, asked, signIn, another: instance }
}

async function refused(response: Response, status: number, code: string) {
  const body = await response.text()
  expect({ status: response.status, code: Refused.parse(JSON.parse(body)).code }).toEqual({ status, code })
  expect(response.headers.get('set-cookie')).toBeNull()
}

test('the questions of the host are the answer to the password, and nobody is signed in by it', async () => {
  const { post, db, demo } = await panel()

  const response = await post(LOGIN, ALICE)

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({
    error: 'L’hôte demande plus que le mot de passe.',
    code: 'more_asked',
    challenge: expect.stringMatching(/^v1\.[\w-]{100,}$/),
    prompts: [{ text: 'Verification code:', echo: false }],
  })
  expect(await rows(db, 'SELECT * FROM sessions')).toEqual([])
  expect(await rows(db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
  expect(demo.connections).toBe(1)
})

test('the right answers open the session as a password does, proven by the host', async () => {
  const { post, asked, db } = await panel()
  const { challenge } = await asked()

  const response = await post(ANSWERS, { challenge, answers: [CODE] })

  expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^svc_refresh=/)])
  expect(await answered(response, 200)).toMatchObject({ expires_in: 900, user: { username: 'alice', is_admin: false } })
  expect(await rows(db, 'SELECT proven_by FROM sessions')).toEqual([{ proven_by: 'host' }])
  expect(await audited(db)).toMatchObject([
    { action: 'login_asked', user_id: null, username: 'alice', details: { prompts: 1 } },
    { action: 'login_success', username: 'alice', details: { by: 'host' } },
  ])
})

test('wrong answers are refused and audited without the answer, and the challenge is over', async () => {
  const { post, asked, db, lines } = await panel()
  const { challenge } = await asked()

  await refused(await post(ANSWERS, { challenge, answers: ['wrong-4711'] }), 401, 'answers_refused')

  await refused(await post(ANSWERS, { challenge, answers: [CODE] }), 410, 'challenge_over')
  const entries = await audited(db)
  expect(entries).toMatchObject([
    { action: 'login_asked' },
    { action: 'login_failed', username: 'alice', details: { reason: 'bad_credentials' } },
  ])
  expect(JSON.stringify([entries, lines()])).not.toContain('wrong-4711')
  expect(await rows(db, 'SELECT * FROM sessions')).toEqual([])
})

test('a challenge that has been answered is over', async () => {
  const { post, asked } = await panel()
  const { challenge } = await asked()
  await answered(await post(ANSWERS, { challenge, answers: [CODE] }), 200)

  await refused(await post(ANSWERS, { challenge, answers: [CODE] }), 410, 'challenge_over')
})

test('too few answers are told, and the host still waits for the right number', async () => {
  const { post, asked } = await panel()
  const { challenge } = await asked()

  await refused(await post(ANSWERS, { challenge, answers: [CODE, CODE] }), 400, 'answers_miscounted')

  await answered(await post(ANSWERS, { challenge, answers: [CODE] }), 200)
})

test('another instance, or this one after a restart, says that it is not the one; after its time the challenge is over', async () => {
  const { another, asked, advance, post } = await panel()
  const { challenge } = await asked()
  const other = another('boot-2')

  await refused(await other(ANSWERS, { challenge, answers: [CODE] }), 409, 'challenge_elsewhere')
  await answered(await post(ANSWERS, { challenge, answers: [CODE] }), 200)
  advance(121_000)

  await refused(await other(ANSWERS, { challenge, answers: [CODE] }), 410, 'challenge_over')
})

test('a changed or made-up challenge is over, and not elsewhere', async () => {
  const { post, asked, secrets } = await panel()
  const { challenge } = await asked()
  const last = challenge.endsWith('A') ? 'B' : 'A'
  const content = JSON.stringify({ boot: 'boot-2', id: 'x', at: 0, username: 'alice', sid: null })

  for (const made of [
    `${challenge.slice(0, -4)}${last}AAA`,
    'v1.AAAA',
    `v1.${Buffer.from(content).toString('base64url')}`,
    secrets.seal('ssh_password', content),
  ])
    await refused(await post(ANSWERS, { challenge: made, answers: [CODE] }), 410, 'challenge_over')
})

test.each([
  ['no answers', { answers: [] }],
  ['eleven answers', { answers: Array.from({ length: 11 }, () => CODE) }],
  ['an endless answer', { answers: ['x'.repeat(1_025)] }],
  ['a number', { answers: [7] }],
  ['a text instead of a list', { answers: CODE }],
  ['nothing', {}],
  ['an endless challenge', { challenge: `v1.${'A'.repeat(3_000)}`, answers: [CODE] }],
])('a body with %s is invalid', async (_, body) => {
  const { post, asked } = await panel()
  const { challenge } = await asked()

  await refused(await post(ANSWERS, { challenge, ...body }), 400, 'invalid_request')
})

test('a function host, which cannot wait, says so at the password', async () => {
  const { post, db } = await panel({ asksPeople: false })

  await refused(await post(LOGIN, ALICE), 501, 'prompts_impossible')

  await answered(await post(LOGIN, { ...ALICE, username: 'bob' }), 200)
  expect(await audited(db)).toMatchObject([
    { action: 'login_failed', username: 'alice', details: { reason: 'asks_more' } },
    { action: 'login_success', username: 'bob' },
  ])
})

test('a step-up by password asks the questions of the host, and the answers are the proof', async () => {
  const { post, asked, signIn, advance, db } = await panel()
  const token = await signIn('alice')
  advance(600_000)

  const response = await post(STEP_UP, { password: ALICE.password }, token)
  expect(response.status).toBe(403)
  const { code, challenge, prompts } = Asked.parse(await response.json())
  expect({ code, prompts }).toEqual({
    code: 'proof_more_asked',
    prompts: [{ text: 'Verification code:', echo: false }],
  })
  const proven = SignedIn.parse(await answered(await post(STEP_UP, { challenge, answers: [CODE] }, token), 200))

  expect(decoded(proven.access_token).claims).toMatchObject({ proven: Date.parse('2026-03-01T12:10:00Z') / 1000 })
  expect(await rows(db, 'SELECT proven_at, proven_by FROM sessions')).toEqual([
    { proven_at: '2026-03-01T12:10:00.000Z', proven_by: 'host' },
  ])
  const again = await asked(STEP_UP, { password: ALICE.password }, token)
  await refused(await post(STEP_UP, { challenge: again.challenge, answers: ['0'] }, token), 403, 'proof_wrong')
})

test('a challenge is for the one who got it: not for another user, and not for the other purpose', async () => {
  const { post, asked, signIn, db } = await panel()
  const [alice, carol] = [await signIn('alice'), await signIn('carol')]
  const proof = await asked(STEP_UP, { password: ALICE.password }, alice)
  const entry = await asked()

  await refused(await post(STEP_UP, { challenge: proof.challenge, answers: [CODE] }, carol), 410, 'challenge_over')
  await refused(await post(ANSWERS, { challenge: proof.challenge, answers: [CODE] }), 410, 'challenge_over')
  await refused(await post(STEP_UP, { challenge: entry.challenge, answers: [CODE] }, alice), 410, 'challenge_over')

  expect(await rows(db, 'SELECT * FROM sessions')).toHaveLength(2)
  await answered(await post(STEP_UP, { challenge: proof.challenge, answers: [CODE] }, alice), 200)
})

test('questions of a proof are answered by the session that has asked, not by another one of the same user', async () => {
  const { post, asked, signIn, advance, db } = await panel()
  const [own, stolen] = [await signIn('alice'), await signIn('alice')]
  advance(600_000)
  const { challenge } = await asked(STEP_UP, { password: ALICE.password }, own)

  await refused(await post(STEP_UP, { challenge, answers: [CODE] }, stolen), 410, 'challenge_over')

  expect(await rows(db, `SELECT id FROM sessions WHERE proven_at > '2026-03-01T12:05'`)).toEqual([])
  await answered(await post(STEP_UP, { challenge, answers: [CODE] }, own), 200)
})

test('a page of another origin cannot answer', async () => {
  const { services, asked } = await panel()
  const { request } = mount([loginAnswers], services)
  const { challenge } = await asked()

  const response = await request(ANSWERS, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: JSON.stringify({ challenge, answers: [CODE] }),
  })

  await refused(response, 403, 'origin_forbidden')
})

test('a host that takes keys only is not taken for a wrong password', async () => {
  const app = await testApp([login], {
    fake: {
      signIn() {
        throw new SshError('no_passwords', 'l’hôte n’accepte pas de mot de passe pour alice, seulement : publickey')
      },
    },
  })

  const response = await app.request('POST', LOGIN, { body: ALICE })

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({
    error: 'L’hôte n’accepte aucun mot de passe, seulement des clés SSH.',
    code: 'passwords_not_taken',
  })
  expect(await audited(app.db)).toMatchObject([
    { action: 'login_failed', username: 'alice', details: { reason: 'no_passwords' } },
  ])
})

test('an expired password is told as one, and is no wrong password', async () => {
  const app = await testApp([login], {
    fake: {
      signIn() {
        throw new SshError('password_expired', 'le mot de passe de alice a expiré : il doit être changé par ssh')
      },
    },
  })

  await refused(await app.request('POST', LOGIN, { body: ALICE }), 401, 'password_expired')

  expect(await audited(app.db)).toMatchObject([
    { action: 'login_failed', username: 'alice', details: { reason: 'password_expired' } },
  ])
})
