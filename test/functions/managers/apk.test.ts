import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { managedReport } from '../../../functions/managers/managed-report.ts'
import { partsOf } from '../../../functions/managers/sections.ts'
import { OFFERED, SHELLS, upgradableBox as box } from './apk-box.ts'

const MAIN = 'https://repo.example/alpine/v3.20/main'
const COMMUNITY = 'https://repo.example/alpine/v3.20/community'
const EDGE = 'https://repo.example/alpine/edge/main'
const REPOSITORIES = [MAIN, COMMUNITY, EDGE].map((each) => `repository|${each}|${each}`)
const MUSL = `change|upgrade|musl|x86_64|1.2.5-r0|1.2.5-r1|${MAIN}|0|500|0|musl`
const TOOL = `change|upgrade|tool|x86_64|2.0-r1|2.0-r2|${MAIN}|0|500|0|tools`
const APP = [
  `change|upgrade|app|x86_64|1.0-r0|2.0-r0|${MAIN}|0|500|0|app`,
  'change|remove|libold|x86_64|1-r0|-|-|0|0|-4096|libold',
  `change|install|libnew|x86_64|-|1-r0|${MAIN}|0|500|4096|libnew`,
]
const sorted = (lines: readonly string[]) => [...lines].sort()

describe.each(SHELLS)('in %s', (shell) => {
  test('a check tells the repositories, the changes, and what an upgrade without removals leaves alone', async () => {
    const { ask, read } = await box({ shell })

    expect((await ask('apk_refresh')).lines).toEqual([...REPOSITORIES, 'lists|3', 'code|0'])
    expect(sorted((await ask('apk_changes all remove every')).lines)).toEqual(sorted([MUSL, TOOL, ...APP, 'code|0']))
    // The package that needs what would be removed keeps its version.
    expect(sorted((await ask('apk_changes all keep every')).lines)).toEqual(sorted([MUSL, TOOL, 'code|0']))
    expect((await ask('apk_left')).lines).toEqual([
      'hold|pinned',
      `left|kept_back_remove|app|x86_64|1.0-r0|2.0-r0|${MAIN}|0`,
      'left|kept_back_remove|libold|x86_64|1-r0|-|-|0',
      `left|kept_back_remove|libnew|x86_64|-|1-r0|${MAIN}|0`,
      `left|held|pinned|x86_64|1-r0|2-r0|${MAIN}|0`,
      'code|0',
    ])
    expect((await ask('apk_verify')).lines).toEqual(['code|0'])
    expect((await ask('apk_security')).lines).toEqual(['database'])
    expect(await read('etc/apk/world')).toBe('app\ntool@edge\npinned=1-r0\n')
  })

  test.each([
    ['all remove these tool', [TOOL]],
    ['all remove these tool:x86_64 absent', [TOOL]],
    ['all keep without tool', [MUSL]],
    ['all remove without app', [MUSL, TOOL]],
    ['all keep these app', ['problem|apk removes packages with these: libold']],
    ['all keep these', []],
  ])('the selection %s changes nothing else', async (selection, changes) => {
    const { ask } = await box({ shell })

    expect(sorted((await ask(`apk_changes ${selection}`)).lines)).toEqual(sorted([...changes, 'code|0']))
  })

  test.each(['security keep every', 'all keep these ../x', "all keep without 'a*'", 'all keep these --available'])(
    'the selection %s is not one that apk can make',
    async (selection) => {
      const { ask } = await box({ shell })

      expect((await ask(`apk_changes ${selection}`)).lines).toEqual(['unsupported'])
    },
  )

  test.each(['2', '3'])('a run of apk %s makes exactly the plan, and nothing asks a second time', async (major) => {
    const { ask, changes, hashOf, read } = await box({ shell, major })
    const hash = await hashOf('all remove every')

    const { status, lines } = await ask(`managed_run ${hash} all remove every`)

    expect(status).toBe(0)
    expect(lines).toContain('ops-panel-plan: apk does exactly what was planned.')
    expect(lines.at(-1)).toBe('OK: 9 MiB in 17 packages')
    expect(sorted(await changes())).toEqual([
      'Installing libnew - 1-r0',
      'Purging libold 1-r0 -',
      'Upgrading app 1.0-r0 2.0-r0',
      'Upgrading musl 1.2.5-r0 1.2.5-r1',
      'Upgrading tool 2.0-r1 2.0-r2',
    ])
    const [, folder = ''] = /^waiting \d+ (\S+)\/answer$/m.exec(await read('state/log')) ?? []
    expect(folder).not.toBe('')
    expect(existsSync(folder)).toBe(false)
    expect((await ask('apk_changes all remove every')).lines).toEqual(['code|0'])
  })

  test('a package that was published since the plan is refused while apk waits for the answer', async () => {
    const { ask, changes, hashOf, offered, read } = await box({ shell })
    const hash = await hashOf('all keep every')
    await offered({ ...OFFERED, tool: { version: '2.0-r3', needs: 'musl', source: 'tools' } })

    const { status, lines } = await ask(`managed_run ${hash} all keep every`)

    expect(status).toBe(65)
    expect(lines.slice(lines.indexOf('ops-panel-plan differs'))).toEqual([
      'ops-panel-plan differs',
      ' upgrade musl:x86_64 1.2.5-r0 1.2.5-r1',
      ' upgrade tool:x86_64 2.0-r1 2.0-r3',
      'ops-panel-plan end',
    ])
    expect(await changes()).toEqual([])
    expect(await read('state/log')).toContain('asked n')
  })
})

/** Returns the report that a check makes of the answers of apk. */
async function reportOf({ ask }: Awaited<ReturnType<typeof box>>) {
  const { text } = await ask('section() { echo "$1"; sed \'s/^/ /\'; echo; }; managed_look')
  const { sections } = await partsOf(text.split('\n'))
  return managedReport('apk', sections)
}

test('a check reads every answer of apk', async () => {
  const made = await box()

  const report = await reportOf(made)

  expect(report).toMatchObject({ refreshed: true, isSupported: true, sizes: { download: 1_000, disk: 0 } })
  expect(report?.packages.map(({ name, action, status, reason }) => [name, action, status, reason])).toEqual([
    ['musl', 'upgrade', 'planned', null],
    ['tool', 'upgrade', 'planned', null],
    ['app', 'upgrade', 'kept_back', 'kept_back_remove'],
    ['libold', 'remove', 'kept_back', 'kept_back_remove'],
    ['libnew', 'install', 'kept_back', 'kept_back_remove'],
    ['pinned', 'upgrade', 'held', 'held'],
  ])
  expect(report?.findings.map(({ code }) => code)).toEqual(['kept_back_remove', 'held', 'security_unknown'])
  const sources = [...(report?.changes.values() ?? [])]
  expect(sources).toContainEqual({ source: 'tools', from: '2.0-r1', to: '2.0-r2' })
})

test('a check names a repository that failed, with the code of apk, and is not a whole refresh', async () => {
  const made = await box()
  const failure = `WARNING: updating and opening ${COMMUNITY}: DNS lookup error`
  await made.write('state/update', `0\n${failure}\n0 unavailable, 1 stale; 5 distinct packages available\n`)

  const report = await reportOf(made)

  expect(report?.refreshed).toBe(false)
  expect(report?.findings[0]).toMatchObject({ code: 'repository_unreachable', repository: COMMUNITY })
})
