import { beforeAll, describe, expect, test } from 'vitest'
import { askPackages, type Caller, record, signIn } from './client.ts'
import { follow } from './follower.ts'
import { startJob } from './job.ts'
import { type Account, dpkgStatus, inside, rig } from './rig.ts'
import { isHealthy, type Service, startService } from './service.ts'

const HOSTILE = [
  'lxc:101; touch /tmp/pwned',
  'lxc:101 && touch /tmp/pwned',
  'lxc:101 | touch /tmp/pwned',
  'lxc:101 & touch /tmp/pwned &',
  'lxc:101\ntouch /tmp/pwned\n',
  'lxc:101\r\ntouch /tmp/pwned',
  'lxc:$(touch /tmp/pwned)101',
  'lxc:`touch /tmp/pwned`',
  'lxc:101 -- touch /tmp/pwned',
  "lxc:101 -- sh -c 'touch /tmp/pwned'",
  "lxc:101' ; touch /tmp/pwned ; '",
  'lxc:101" ; touch /tmp/pwned ; "',
  "lxc:'$(touch /tmp/pwned)'",
  'lxc:"$(touch /tmp/pwned)"',
  "lxc:\\'; touch /tmp/pwned; \\'",
  'lxc:$IFS;touch$IFS/tmp/pwned',
  'lxc:--keep-env',
  'lxc:-n 101',
  'lxc:--',
  'lxc:../../../../tmp/pwned',
  'lxc:101 > /tmp/pwned',
  'lxc:!touch /tmp/pwned',
  'lxc:#',
  'lxc:*',
  'lxc:~root',
  'lxc:101\u2028touch /tmp/pwned',
  'lxc:éè\u{1f4a5}',
  'host; touch /tmp/pwned',
  'host\ntouch /tmp/pwned',
  'all; touch /tmp/pwned',
  '$(touch /tmp/pwned)',
  '-oProxyCommand=touch /tmp/pwned',
  "'",
  '%s%n',
]
const NUL = ['lxc:101\0', 'lxc:\0touch /tmp/pwned', 'host\0', '\0']
const LONG: [string, string][] = [
  ['a container id of 4,000 digits', `lxc:${'1'.repeat(4_000)}`],
  ['4,000 characters of shell', `lxc:${"';touch_/tmp/pwned;'".repeat(200)}`],
  ['10,000 characters of nothing', 'x'.repeat(10_000)],
]

/** The number of jobs that one user may have running or waiting. */
const AT_ONCE = 10

const named = (targets: string[]) => targets.map((target): [string, string] => [JSON.stringify(target), target])

const FRENCH = /^(Cible invalide : |Erreur SSH : |La cible est obligatoire|La requête est invalide)/
const FIND = 'find / /tmp /run /dev/shm -xdev -name "*pwned*" 2>/dev/null'

describe.each<Account>(['root', 'ops', 'alice'])('with the service account %s', (account) => {
  let service: Service
  let bob: Caller
  beforeAll(async () => {
    await rig('reset')
    await rig('slow', '1', '1')
    service = await startService({ as: account })
    bob = await signIn(service, 'bob')
    return () => service.stop()
  })

  test.each([...named([...HOSTILE, ...NUL]), ...LONG])('packages of %s are refused in French', async (_, target) => {
    const { status, body, ms } = await askPackages(bob, target)

    expect([400, 502]).toContain(status)
    expect(body).toMatchObject({ error: expect.stringMatching(FRENCH), code: expect.any(String) })
    expect(ms).toBeLessThan(10_000)
  })

  test('a job for each hostile target ends, and its record has the target that was sent', async () => {
    const targets = [...HOSTILE, ...NUL]
    const ids: string[] = []
    for (let at = 0; at < targets.length; at += AT_ONCE) {
      const some = await Promise.all(targets.slice(at, at + AT_ONCE).map((target) => startJob(bob, target)))
      const followers = await Promise.all(some.map((id) => follow(service, id, { token: bob.token, withinMs: 60_000 })))
      for (const { closed } of followers) expect(await closed).toBe(1000)
      ids.push(...some)
    }
    const records = await Promise.all(ids.map((id) => record(bob, id)))
    expect(records.map(({ status }) => status)).not.toContain('running')
    expect(records.map(({ target }) => target)).toEqual(targets)
  })

  test.each(LONG)('a job for %s is refused, and nothing of it is stored', async (_, target) => {
    expect(await bob.post('/api/updates/run', { target })).toMatchObject({
      status: 400,
      body: { code: 'target_invalid', error: expect.stringMatching(FRENCH) },
    })
    expect(JSON.stringify((await bob.get('/api/updates/history?output=none')).body)).not.toContain(target.slice(0, 65))
  })

  test.each<[string, unknown]>([
    ['no target', {}],
    ['an empty target', { target: '' }],
    ['a number', { target: 101 }],
    ['a list', { target: ['host'] }],
    ['null', { target: null }],
    ['a text instead of an object', 'host'],
    ['a list instead of an object', []],
  ])('a job for %s is 400', async (_, body) => {
    expect(await bob.post('/api/updates/run', body)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(FRENCH) },
    })
  })

  test('no part of a target was run, on the host or in a container, and the service is healthy', async () => {
    for (const place of ['host', '101', '102'] as const) expect(await inside(place, `${FIND} || true`)).toBe('')
    expect(await dpkgStatus('101', 'rig-web')).toBe('install ok installed 1.0')
    expect(await isHealthy(service.url)).toBe(true)
  })
})
