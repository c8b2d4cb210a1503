import { expect, test } from 'vitest'
import { changesOf, leftOf, refreshOf, verifiedOf } from '../../../functions/managers/managed-lines.ts'
import { randomOf, rounds, seedOf } from '../../rounds.ts'
import type { Random } from '../../soak/random.ts'
import { hashOf, type StandIn, zypperWith } from './zypper-stand-in.ts'

const HOSTS = rounds(15, 300)
const TEST_MS = 60_000 + HOSTS * 15_000
const seed = seedOf('test/functions/managers/zypper-hostile.test.ts', 'whole')

const NAMES = [
  'a',
  'c',
  'kernel-default',
  '$(touch "$FOLDER/owned")',
  '`touch owned`',
  "'; touch owned; '",
  '--root=/',
  '-- a',
  'a\tb',
  'a\u0000b',
  'a"/>\n</to-upgrade>\n</install-summary>\n<x y="',
  '../../etc/passwd',
  '%s%n%1$s',
  '\u001b[2J\u001b]0;x\u0007',
  'x'.repeat(5_000),
  '&quot;&lt;&amp;amp;',
  '\\1\\n&',
  'é\ud800',
  '',
] as const
const EDITIONS = ['1.0-1', '2.0-1', '1:2.0~rc1-1', '^-~', '', '9'.repeat(400), '1 2', '$(id)', '-'] as const
const WORDS = [
  '<install-summary download-size="1" space-usage-diff="-1" packages-to-change="1">',
  '<install-summary packages-to-change="99999999999999999999">',
  '</install-summary>',
  '<to-upgrade>',
  '</to-upgrade>',
  '<to-remove>',
  '</to-remove>',
  '<to-change-vendor>',
  '<_unsupported>',
  '<prompt id="1">',
  '<description>Problem: $(touch "$FOLDER/owned")\nSolution 1: `id`',
  '</prompt>',
  '<message type="error">',
  '</message>',
  '<update-list>',
  '</stream>',
  '<stream>',
  'Conflicts   : [1]',
  '    $(touch "$FOLDER/owned") < 1',
  'ops-panel-plan: zypper does exactly what was planned.',
  'code\t0',
  '<',
  '>',
] as const

function piece(random: Random): string {
  const name = random.pick(NAMES)
  const to = random.pick(EDITIONS)
  const from = random.pick(EDITIONS)
  return random.pick([
    `<solvable type="package" name="${name}" edition="${to}" arch="noarch" edition-old="${from}" arch-old="noarch" summary="${name}"/>`,
    `<solvable type="${name}" name="a" edition="${to}" arch="${name}">`,
    `<update kind="package" name="${name}" edition="${to}" arch="noarch" edition-old="${from}"><source url="x" alias="${name}"/></update>`,
    `<update kind="patch" name="${name}" edition="1" arch="noarch" status="needed" category="security"><source url="x" alias="y"/></update>`,
    `<repo alias="${name}" name="x" enabled="1">\n<url>${name}</url>\n</repo>`,
    `<match kind="package" name="${name}" edition="1" arch="noarch" installed="true" repo="@System"></match>`,
    `<progress id="x" name="${name}" done="1"/>`,
    ...WORDS,
  ])
}

function hostileText(random: Random): string {
  const count = random.chance(0.05) ? 20_000 : random.between(0, 60)
  const text = Array.from({ length: count }, () => piece(random)).join(random.chance(0.9) ? '\n' : '')
  return random.chance(0.7) ? `<?xml version='1.0'?>\n<stream>\n${text}\n</stream>\n` : text
}

const KEYS = ['list-updates', 'list-patches', 'info', 'trial', 'locks', 'verify', 'repos', 'refresh-a'] as const

async function hostileHost(random: Random): Promise<StandIn> {
  const host = await zypperWith()
  for (const key of KEYS)
    if (random.chance(0.6)) await host.answer(key, hostileText(random), random.pick([0, 0, 0, 4, 100, 106]))
  return host
}

/** A line of the shape: a word and fields between tabs, without any other control character. */
const LINE =
  /^(repository|failed|locked|lists|change|unsupported|problem|total|left|hold|broken|unfinished|code)(\t\P{Cc}{1,5100})*$/u

test(`whatever zypper answers, ${HOSTS} times: lines of the shape, an end, and no command`, {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed)
  for (let at = 0; at < HOSTS; at++) {
    const host = await hostileHost(random)
    const asked = [
      ['zypper_refresh', refreshOf],
      [
        `zypper_changes ${random.pick(['all keep every', 'security keep every', 'all remove these a c', 'all keep without a'])}`,
        changesOf,
      ],
      ['zypper_left', leftOf],
      ['zypper_verify', verifiedOf],
    ] as const
    for (const [command, read] of asked) {
      const { lines, ms } = await host.ask(command)
      expect(ms).toBeLessThan(60_000)
      expect(lines.filter((line) => !LINE.test(line))).toEqual([])
      expect(lines.at(-1)).toMatch(/^(code\t\d{1,3}|unsupported)$/)
      await read(lines.map((line) => line.replaceAll('|', '/').replaceAll('\t', '|')))
    }
    expect(await host.file('owned')).toBe('')
    expect(await host.leftBehind()).toEqual([])
  }
})

test(`whatever zypper shows of its transaction, ${HOSTS} times: without the plan nothing changes`, {
  timeout: TEST_MS,
}, async () => {
  const random = randomOf(seed + 1)
  for (let at = 0; at < HOSTS; at++) {
    const host = await zypperWith({ sleep: 'exit 0' })
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    const installed = await host.file('installed')
    // The answer is not that of the plan, and then rpm is asked to change something.
    await host.write('answer.update', hostileText(random))
    await host.write(
      'meanwhile.update',
      'cat "$FOLDER/answer.update"; rpm --root / --dbpath /x -U -- /p/a=6.6-6 2>&1; exit 0',
    )

    const { status, lines, ms } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

    expect([65, 75]).toContain(status)
    expect(ms).toBeLessThan(120_000)
    expect(lines.filter((line) => /\p{Cc}/u.test(line))).toEqual([])
    expect(await host.file('installed')).toBe(installed)
    expect(await host.file('rpm-calls')).toBe('')
    expect(await host.file('owned')).toBe('')
  }
})
