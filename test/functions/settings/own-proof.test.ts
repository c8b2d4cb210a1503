import { describe, expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import stepUp from '../../../functions/access/step-up.post.ts'
import recovery from '../../../functions/factors/recovery.post.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import settings from '../../../functions/settings/settings.get.ts'
import change from '../../../functions/settings/settings.patch.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START, testApp } from '../../app.ts'
import { hostOf, startDemo } from '../../runtime/demo.ts'
import { answered, audited, refused } from '../answers.ts'
import { codeNow, enrolTotp, PASSWORD, signedBy, signIn, tokenOf } from '../factors/person.ts'

const KEY = `SHA256:${'A'.repeat(43)}`
const OTHER_HOST = { ssh_host: 'other.example', ssh_host_key: KEY }
const MINUTE = 60_000

/** An administrator with an authenticator, on a host that from then on answers passwords as `judge` says. */
async function start({ enrols = true, enrolled = '2025-01-01T00:00:00.000Z' } = {}) {
  const sent: string[] = []
  const seen = {
    judge(_: string): undefined {
      throw new SshError('no_passwords', 'l’hôte n’accepte pas de mot de passe pour bob, seulement : publickey')
    },
  }
  let isReady = false
  const app = await testApp([login, stepUp, recovery, beginTotp, confirmTotp, settings, change], {
    fake: {
      signIn(_, password) {
        sent.push(password)
        return isReady ? seen.judge(password) : { uid: 1000, groups: ['bob', 'sudo'] }
      },
      inspect: () => ({ uid: 1000, groups: ['bob', 'sudo'] }),
    },
  })
  let token = await signIn(app)
  const { secret, codes } = enrols ? await enrolTotp(app, token) : { secret: '', codes: [] }
  await app.services.settings.pinHostKey('ssh-ed25519 SHA256:old', 'pve.test')
  await app.db.run('UPDATE factors SET created_at = ?', [enrolled])
  isReady = true
  sent.length = 0
  return {
    app,
    sent,
    seen,
    prove: async (factor: 'totp' | 'recovery', code = codeNow(app, secret)) => {
      const body = { factor, answers: [code] }
      const headers = signedBy(token)
      token = await tokenOf(await app.request('POST', '/api/auth/step-up', { headers, body }))
    },
    codes,
    patch: (body: object) => app.request('PATCH', '/api/settings', { headers: signedBy(token), body }),
    shown: async () => answered(await app.request('GET', '/api/settings', { headers: signedBy(token) }), 200),
  }
}

test('on a host that takes keys only, a code of the last five minutes stands for the password', async () => {
  const { app, sent, prove, patch, shown } = await start()
  await prove('totp')
  app.advance(5 * MINUTE)

  await answered(await patch(OTHER_HOST), 200)

  expect(await shown()).toMatchObject(OTHER_HOST)
  expect(sent).toEqual([''])
  expect((await audited(app.db)).slice(-2).map(({ action }) => action)).toEqual(['step_up', 'settings_changed'])
})

test('an older code does not, though it is enough for other settings: the panel is to ask for another one', async () => {
  const { app, prove, patch, shown } = await start()
  const before = await shown()
  await prove('totp')
  app.advance(5 * MINUTE + 1_000)

  await refused(await patch(OTHER_HOST), 403, 'step_up_required')

  expect(await shown()).toEqual(before)
  await answered(await patch({ checks_parallel: '3' }), 200)
  await prove('totp')
  await answered(await patch(OTHER_HOST), 200)
})

test('a code from before the clock was set back does not stand for the password', async () => {
  const { app, prove, patch } = await start()
  await prove('totp')
  app.advance(-6 * MINUTE)

  await refused(await patch(OTHER_HOST), 403, 'step_up_required')
})

test('a recovery code and the password of the sign-in do not stand for it', async () => {
  const { codes, prove, patch } = await start()
  await refused(await patch(OTHER_HOST), 403, 'step_up_required')

  await prove('recovery', codes[0])

  await refused(await patch(OTHER_HOST), 403, 'step_up_required')
})

test.each([
  ['takes passwords', new SshError('bad_credentials', 'authentification refusée pour bob')],
  ['asks more than a password', new SshError('asks_more', 'l’hôte demande plus')],
  ['is away', new SshError('unreachable', 'personne ne répond')],
  ['shows another key', new SshError('host_key_changed', 'la clé de l’hôte a changé')],
])('on a host that %s, a fresh code does not stand for the password', async (_, error) => {
  const { sent, seen, prove, patch, shown } = await start()
  const before = await shown()
  seen.judge = () => {
    throw error
  }
  await prove('totp')

  await refused(await patch(OTHER_HOST), 403, 'proof_required')

  expect(await shown()).toEqual(before)
  expect(sent).toEqual([''])
})

test('a host that has no room to answer, or lets an empty password in, has not said that it takes keys only', async () => {
  const { seen, prove, patch } = await start()
  seen.judge = () => undefined
  await prove('totp')

  await refused(await patch(OTHER_HOST), 403, 'proof_required')
})

test('who has no factor is asked for the password, and the host is not asked', async () => {
  const { sent, patch } = await start({ enrols: false })

  await refused(await patch(OTHER_HOST), 403, 'proof_required')

  expect(sent).toEqual([])
})

test('a factor that is younger than a day does not stand for the password: a stolen session may have added it', async () => {
  const { app, sent, prove, patch } = await start({ enrolled: START.toISOString() })
  await prove('totp')

  await refused(await patch(OTHER_HOST), 403, 'proof_required')

  expect(sent).toEqual([])
  await app.db.run('UPDATE factors SET created_at = ?', [new Date(START.getTime() - 24 * 60 * MINUTE).toISOString()])
  await answered(await patch(OTHER_HOST), 200)
})

test('a given password is judged by the host, however fresh the code is', async () => {
  const { app, sent, seen, prove, patch } = await start()
  seen.judge = () => {
    throw new SshError('bad_credentials', 'authentification refusée pour bob')
  }
  await prove('totp')

  await refused(await patch({ ...OTHER_HOST, current_password: 'x' }), 403, 'proof_wrong')

  expect(sent).toEqual(['x'])
  expect(sent).not.toContain(PASSWORD)
  expect((await audited(app.db)).at(-1)?.action).toBe('proof_refused')
})

describe('on a host that asks more than the password', () => {
  const PROVEN = { ...OTHER_HOST, current_password: PASSWORD }
  const startAsking = async (options: { enrols?: boolean; enrolled?: string } = {}) => {
    const started = await start(options)
    started.seen.judge = (password) => {
      // A host that is asked for its methods alone has nothing to ask of anybody.
      if (password === '') throw new SshError('bad_credentials', 'authentification refusée pour bob')
      throw new SshError('asks_more', 'l’hôte demande plus que le mot de passe de bob')
    }
    return started
  }
  const actions = async ({ app }: Awaited<ReturnType<typeof start>>) =>
    (await audited(app.db)).slice(-2).map(({ action }) => action)

  test('a code of the last five minutes stands beside the password, which is asked for first', async () => {
    const started = await startAsking()
    const { app, prove, patch, shown } = started
    await prove('totp')
    app.advance(5 * MINUTE)
    await refused(await patch(OTHER_HOST), 403, 'proof_required')

    await answered(await patch(PROVEN), 200)

    expect(await shown()).toMatchObject(OTHER_HOST)
    expect(await actions(started)).toEqual(['step_up', 'settings_changed'])
  })

  test.each<[string, (started: Awaited<ReturnType<typeof start>>) => Promise<void>]>([
    ['nothing but the password', async () => {}],
    ['a recovery code', ({ prove, codes }) => prove('recovery', codes[0])],
    [
      'a code of six minutes ago',
      async ({ app, prove }) => {
        await prove('totp')
        app.advance(6 * MINUTE)
      },
    ],
  ])('%s changes nothing, and a new proof by a factor is asked for', async (_, prepare) => {
    const started = await startAsking()
    await prepare(started)
    const before = await started.shown()

    await refused(await started.patch(PROVEN), 403, 'step_up_required')

    expect(await started.shown()).toEqual(before)
    expect((await audited(started.app.db)).at(-1)).toMatchObject({
      action: 'proof_refused',
      details: { reason: 'asks_more' },
    })
  })

  test.each([
    ['no factor', { enrols: false, enrolled: '' }],
    ['a factor since today', { enrols: true, enrolled: START.toISOString() }],
  ])('who has %s is told what to do', async (_, options) => {
    const started = await startAsking(options)
    const before = await started.shown()
    if (options.enrols) await started.prove('totp')

    const { error } = await refused(await started.patch(PROVEN), 403, 'proof_needs_factor')

    expect(error).toContain('second facteur')
    expect(error).toContain('ops-panel')
    expect(await started.shown()).toEqual(before)
    expect((await audited(started.app.db)).at(-1)?.action).toBe('proof_refused')
  })
})

test('a password that a host of keys only cannot check is told the same way as no password', async () => {
  const { prove, patch } = await start()
  const body = { ...OTHER_HOST, current_password: PASSWORD }
  await refused(await patch(body), 403, 'step_up_required')

  await prove('totp')

  await answered(await patch(body), 200)
})

test('questions about the methods count as passwords: five a minute for an address', async () => {
  const { seen, prove, patch } = await start()
  seen.judge = () => {
    throw new SshError('bad_credentials', 'authentification refusée pour bob')
  }
  await prove('totp')
  for (let n = 0; n < 5; n += 1) await refused(await patch(OTHER_HOST), 403, 'proof_required')

  await refused(await patch(OTHER_HOST), 429, 'login_rate_limited')
})

test('the question sends no password to a host, whichever methods it offers', async () => {
  for (const method of ['password', 'keyboard-interactive', 'publickey'] as const) {
    const demo = await startDemo({ method })
    const { host } = await hostOf(demo)

    const reason = method === 'publickey' ? 'no_passwords' : 'bad_credentials'
    await expect(host.signIn('demo', '')).rejects.toMatchObject({ reason })

    expect(demo.signIns).toEqual([])
  }
})
