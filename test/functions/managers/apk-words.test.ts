import { expect, test } from 'vitest'
import { apkBox } from './apk-box.ts'

/*
 * The words of apk, read by the functions of apk.ts. The outputs of apk update are recorded ones of Alpine 3.12 to 3.23,
 * with other addresses; the errors of the solver have the form of test/solver of apk-tools, with other packages.
 */

const MAIN = 'https://repo.example/alpine/v3.20/main'
const COMMUNITY = 'https://repo.example/alpine/v3.20/community'
const EDGE = 'https://repo.example/alpine/edge/main'
const REPOSITORIES = [MAIN, COMMUNITY, EDGE].map((each) => `repository|${each}|${each}`)

test.each([
  [
    'of Alpine 3.20, all well',
    0,
    `v3.20.3-120-g1a2b3c4 [${MAIN}]\nv3.20.3-121-gabcdef0 [${COMMUNITY}]\nOK: 24171 distinct packages available`,
    ['lists|3', 'code|0'],
  ],
  [
    'of Alpine 3.19, without the network',
    3,
    `WARNING: updating and opening ${MAIN}: temporary error (try again later)\nWARNING: updating and opening ${COMMUNITY}: temporary error (try again later)\nWARNING: updating and opening ${EDGE}: DNS lookup error\n3 unavailable, 0 stale; 17 distinct packages available`,
    [
      `failed|3|${MAIN}|temporary error (try again later)`,
      `failed|3|${COMMUNITY}|temporary error (try again later)`,
      `failed|3|${EDGE}|DNS lookup error`,
      'lists|0',
      'code|3',
    ],
  ],
  [
    'of Alpine 3.18, with an old list and the code 0',
    0,
    `WARNING: fetching ${COMMUNITY}: operation timed out\n0 unavailable, 1 stale; 24169 distinct packages available`,
    [`failed|1|${COMMUNITY}|operation timed out`, 'lists|3', 'code|1'],
  ],
  [
    'of Alpine 3.23, with the path of the list',
    1,
    `WARNING: updating and opening ${MAIN}/x86_64/APKINDEX.tar.gz: TLS: unspecified error\n1 unavailable, 0 stale; 100 distinct packages available`,
    [`failed|1|${MAIN}|TLS: unspecified error`, 'lists|2', 'code|1'],
  ],
  [
    'with a signature of an unknown key',
    1,
    `WARNING: updating and opening ${EDGE}: UNTRUSTED signature\n1 unavailable, 0 stale; 24171 distinct packages available`,
    [`failed|1|${EDGE}|UNTRUSTED signature`, 'lists|2', 'code|1'],
  ],
  [
    'of Alpine 3.12, where the reason stands in the error before the warning',
    1,
    `ERROR: ${MAIN}: No such file or directory\nWARNING: Ignoring ${MAIN}: No such file or directory\n1 errors; 9755 distinct packages available`,
    [`failed|1|${MAIN}|No such file or directory`, 'lists|2', 'code|1'],
  ],
  [
    'with an address that no file names, and a port',
    1,
    'WARNING: updating and opening http://10.0.0.1:8080/x86_64/APKINDEX.tar.gz: Connection refused\n1 unavailable, 0 stale; 1 distinct packages available',
    ['failed|1|http://10.0.0.1:8080/x86_64/APKINDEX.tar.gz|Connection refused', 'lists|2', 'code|1'],
  ],
  [
    'without a right',
    99,
    'ERROR: Unable to lock database: Permission denied\nERROR: Failed to open apk database: Permission denied',
    [
      ...[MAIN, COMMUNITY, EDGE].map((each) => `failed|99|${each}|Failed to open apk database: Permission denied`),
      'lists|0',
      'code|99',
    ],
  ],
  [
    'that ends without a word, with the code 0',
    0,
    '',
    [...[MAIN, COMMUNITY, EDGE].map((each) => `failed|1|${each}|apk update ended with 1`), 'lists|0', 'code|1'],
  ],
  [
    'with control characters and a password',
    1,
    'WARNING: updating and opening https://u:p@repo.example/alpine/v3.20/main: \u001b[31mred\tcode 0\n1 unavailable, 0 stale; 1 distinct packages available',
    [`failed|1|${MAIN}|?[31mred?code 0`, 'lists|2', 'code|1'],
  ],
])('an apk update %s', async (_, code, text, expected) => {
  const { ask, write } = await apkBox()
  await write('state/update', `${code}\nfetch ${MAIN}/x86_64/APKINDEX.tar.gz\n${text}\n`)

  expect((await ask('apk_refresh')).lines).toEqual([...REPOSITORIES, ...expected])
})

test('the repositories of apk 3 have components and files of their own', async () => {
  const { ask, write } = await apkBox()
  await write(
    'etc/apk/repositories',
    'set mirror=https://mirror.example\nv3 @tag https://a.example/alpine main community\nndx https://b.example/APKINDEX.tar.gz\n/srv/packages\nhttps://a.example/alpine/main\n',
  )

  expect((await ask('apk_repositories')).lines).toEqual([
    'https://a.example/alpine/main',
    'https://a.example/alpine/community',
    'https://b.example/APKINDEX.tar.gz',
    '/srv/packages',
  ])
})

const UNKNOWN = ['problem|apk told a change in a form that is not known', 'code|1']

test.each([
  ['a rebuilt package', ['(1/1) Replacing app (1.0-r0 -> 1.0-r0)'], ['change|upgrade|app|1.0-r0|1.0-r0', 'code|0']],
  ['an older package', ['(1/1) Downgrading app@edge (2-r0 -> 1-r0)'], ['change|downgrade|app|2-r0|1-r0', 'code|0']],
  ['a broken package', ['(1/1) Reinstalling app (1-r0)'], ['change|reinstall|app|1-r0|1-r0', 'code|0']],
  [
    'a broken package that is not offered any more, and another pin',
    ['(1/2) [APK unavailable, skipped] Reinstalling app (1-r0)', '(2/2) Updating pinning tool@edge (2-r0)'],
    ['code|0'],
  ],
  [
    'a virtual package, and the numbers of apk 3',
    [
      '( 1/10) Purging .build-deps (20240101.120000)',
      ...Array.from({ length: 9 }, (_, n) => `(${n + 2}/10) Installing p${n} (1~abc-r0)`),
    ],
    [
      'change|remove|.build-deps|20240101.120000|-',
      ...Array.from({ length: 9 }, (_, n) => `change|install|p${n}|-|1~abc-r0`),
      'code|0',
    ],
  ],
  [
    'fewer changes than it counts',
    ['(1/2) Upgrading app (1-r0 -> 2-r0)'],
    ['change|upgrade|app|1-r0|2-r0', ...UNKNOWN],
  ],
  ['an unknown word', ['(1/1) Frobbing app (1-r0 -> 2-r0)'], UNKNOWN],
  ['a name with a command', ['(1/1) Upgrading $(id) (1-r0 -> 2-r0)'], UNKNOWN],
  ['a name that is an option', ['(1/1) Upgrading --root (1-r0 -> 2-r0)'], UNKNOWN],
  ['words after the version', ['(1/1) Upgrading app (1-r0 -> 2-r0) (3 -> 4)'], UNKNOWN],
  ['a version of another kind', ['(1/1) Upgrading app (1-r0 -> $(id))'], UNKNOWN],
  ['a name of 300 characters', [`(1/1) Installing ${'a'.repeat(300)} (1-r0)`], UNKNOWN],
])('a simulation with %s', async (_, lines, expected) => {
  const { ask, write } = await apkBox()
  await write(
    'state/simulation',
    `0\nWARNING: opening ${EDGE}: No such file or directory\n${lines.join('\n')}\nOK: 9 MiB in 17 packages\n`,
  )

  const answer = await ask('apk_ready; apk_names= apk_none=; apk_simulated')

  expect(answer.lines).toEqual(expected)
})

const UNMET = `ERROR: unable to select packages:
  so:libfoo.so.1 (no such package):
    required by: bar-tools-1.0-r0[so:libfoo.so.1]
  app-2.0-r0:
    breaks: world[app=1.0-r0]
`

test('packages that do not fit together are told, and are an answer of apk and not a failure to ask it', async () => {
  const { ask, write } = await apkBox()
  await write('state/unmet', UNMET)

  expect((await ask('apk_verify')).lines).toEqual([
    'broken|bar-tools|so:libfoo.so.1 (no such package): required by: bar-tools-1.0-r0[so:libfoo.so.1]',
    'broken|app-2.0-r0|app-2.0-r0: breaks: world[app=1.0-r0]',
    'code|0',
  ])
  expect((await ask('apk_changes all remove every')).lines).toEqual([
    'problem|unable to select packages: so:libfoo.so.1 (no such package):; required by: bar-tools-1.0-r0[so:libfoo.so.1]; app-2.0-r0:; breaks: world[app=1.0-r0]',
    'code|0',
  ])
})

test('a database that cannot be read is not an answer without changes', async () => {
  const { ask, write } = await apkBox()
  await write('state/unmet', 'ERROR: Failed to open apk database: IO ERROR\n')

  expect((await ask('apk_changes all remove every')).lines).toEqual([
    'problem|Failed to open apk database: IO ERROR',
    'code|1',
  ])
  expect((await ask('apk_verify')).lines).toEqual(['code|1'])
  expect((await ask('apk_left')).lines.at(-1)).toBe('code|1')
})

test('a package whose script failed, or whose files were not written whole, is an unfinished one', async () => {
  const { ask, installed } = await apkBox()
  await installed({
    app: { version: '1-r0', flags: 's' },
    tool: { version: '1-r0', flags: 'fS' },
    well: { version: '1-r0', flags: 'S' },
  })

  expect((await ask('apk_verify')).lines).toEqual([
    'unfinished|app|its script failed: apk fix app',
    'unfinished|tool|its files were not written whole: apk fix tool',
    'code|0',
  ])
})

test.each([
  ['tool<3', ['hold|tool', 'held']],
  ['tool~2', ['hold|tool', 'held']],
  ['tool@edge=2.0-r0', ['hold|tool', 'held']],
  ['tool><Q1abc=', ['hold|tool', 'held']],
  ['tool>1', ['kept_back_dependencies']],
  ['tool@edge', ['kept_back_dependencies']],
])('a wanted package %s that is not upgraded has its reason', async (entry, expected) => {
  const { ask, installed, offered, world, write } = await apkBox()
  await installed({ tool: { version: '2.0-r0' } })
  await offered({ tool: { version: '3.0-r0' } })
  await world(`${entry}`)
  await write('state/simulation', '0\nOK: 9 MiB in 17 packages\n')

  const { lines } = await ask('apk_left')

  const reason = expected.at(-1)
  const repository = 'https://repo.example/alpine/v3.20/main'
  expect(lines).toEqual([
    ...expected.slice(0, -1),
    `left|${reason}|tool|x86_64|2.0-r0|3.0-r0|${repository}|0`,
    'code|0',
  ])
})

test('thousands of changes are told within seconds', async () => {
  const { ask, write, installed } = await apkBox()
  const names = Array.from({ length: 5_000 }, (_, n) => `package-with-a-long-name-${n}`)
  await installed(Object.fromEntries(names.map((name) => [name, { version: '1-r0', needs: 'musl so:libc.so.6' }])))
  const lines = names.map((name, n) => `(${n + 1}/${names.length}) Upgrading ${name} (1-r0 -> 2-r0)`)
  await write('state/simulation', `0\n${lines.join('\n')}\nOK: 9 MiB in 17 packages\n`)

  const answer = await ask('apk_changes all remove every')

  expect(answer.lines).toHaveLength(5_001)
  expect(answer.lines.at(-1)).toBe('code|0')
})
