import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { hashOf, OFFERS, planned, type StandIn, zypperWith } from './zypper-stand-in.ts'

const AGREES = 'ops-panel-plan: zypper does exactly what was planned.'
const EVERYTHING = 'all remove every'

/** Plans a selection, and runs the plan after `before` has changed the host. */
async function runOf(host: StandIn, selection: string, before: () => Promise<void> = async () => undefined) {
  const { lines } = await host.ask(`zypper_changes ${selection}`)
  await before()
  const installed = await host.file('installed')
  const run = await host.ask(`hash=${hashOf(lines)}; zypper_run ${selection}`)
  return { ...run, plan: planned(lines), isUnchanged: installed === (await host.file('installed')) }
}

/** The summary that zypper shows of a transaction that changes these packages only. */
const summaryOf = (...changes: [name: string, edition: string][]) =>
  `<?xml version='1.0'?>
<stream>
<install-summary download-size="1" space-usage-diff="1" packages-to-change="${changes.length}">
<to-upgrade>
${changes.map(([name, edition]) => `<solvable type="package" name="${name}" edition="${edition}" arch="noarch" edition-old="1.0-1" arch-old="noarch" summary="made-up"/>`).join('\n')}
</to-upgrade>
</install-summary>
`

describe('a run of a plan', () => {
  test.each<[selection: string, installed: string[]]>([
    [EVERYTHING, ['a 2.0-1', 'b 2.0-1', 'c 1:2.0-1', 'lib+x 1.1-1', 'newdep 1.0-1']],
    ['all keep every', ['a 2.0-1', 'b 1.0-1', 'c 1:2.0-1', 'lib+x 1.1-1', 'newdep 1.0-1', 'old 1.0-1']],
    ['all keep these c', ['a 1.0-1', 'b 1.0-1', 'c 1:2.0-1', 'lib+x 1.0-1', 'newdep 1.0-1', 'old 1.0-1']],
    ['all keep without a newdep', ['a 1.0-1', 'b 1.0-1', 'c 1.0-1', 'lib+x 1.1-1', 'old 1.0-1']],
  ])('of %s changes exactly that, and leaves no file behind', async (selection, installed) => {
    const host = await zypperWith()

    const { status, lines } = await runOf(host, selection)

    expect(status).toBe(0)
    expect(lines).toContain(AGREES)
    expect(
      (await host.file('installed'))
        .split('\n')
        .filter((line) => line !== '')
        .sort(),
    ).toEqual(installed)
    expect(await host.leftBehind()).toEqual([])
    const calls = (await host.file('calls')).split('\n')
    expect(calls.filter((call) => call.includes(' update ') && !call.includes('--dry-run'))).toEqual([
      '-x -n --no-refresh update --no-allow-vendor-change',
    ])
  })

  test('prints what happens in the words of zypper, without XML, entities or control characters', async () => {
    const host = await zypperWith({ offers: OFFERS.slice(0, 1) })
    const { lines: planLines } = await host.ask(`zypper_changes ${EVERYTHING}`)
    await host.answer(
      'update',
      `${summaryOf(['a', '2.0-1'])}<message type="info">Retrieving package a-2.0-1.noarch (1/1), &lt;6 KiB&gt; \u001b[31m&amp;amp;</message>\n<progress id="i" name="Installing: a &apos;x&apos;" value="50"/>\n<progress id="i" name="Installing: a &apos;x&apos;" done="0"/>\n<message type="error">first\nsecond</message>\nplain <line>\n</stream>\n`,
      4,
    )

    const { lines, status } = await host.ask(`hash=${hashOf(planLines)}; zypper_run ${EVERYTHING}`)

    expect(status).toBe(75)
    expect(lines).toEqual([
      'upgrade a.noarch 1.0-1 -> 2.0-1',
      '',
      AGREES,
      'Retrieving package a-2.0-1.noarch (1/1), <6 KiB>  [31m&amp;',
      "Error: Installing: a 'x'",
      'Error: first',
      'second',
      'plain <line>',
    ])
  })

  test('is refused before a download where zypper would do something else', async () => {
    const host = await zypperWith()

    const { status, lines, isUnchanged } = await runOf(host, 'all keep these a', () =>
      host.write('offers', 'a 3.0-1 - -\n'),
    )

    expect(status).toBe(65)
    expect(await host.leftBehind()).toEqual([])
    expect(isUnchanged).toBe(true)
    expect(lines).toEqual(['', 'ops-panel-plan differs', ' upgrade a:noarch 1.0-1 3.0-1', 'ops-panel-plan end'])
    expect(await host.file('rpm-calls')).toBe('')
  })

  test.each([
    ['ends', ''],
    ['cannot be ended', 'kill() { :; }; '],
  ])(
    'a transaction that shows something else than the one tried before changes nothing, where zypper %s',
    async (_, prefix) => {
      const host = await zypperWith()
      const { lines: planLines } = await host.ask('zypper_changes all keep these a')
      await host.write('meanwhile.update', `echo 'a 3.0-1 - -' >"$FOLDER/offers"`)
      const installed = await host.file('installed')

      const { status, lines } = await host.ask(`${prefix}hash=${hashOf(planLines)}; zypper_run all keep these a`)

      expect(status).toBe(65)
      expect(lines).toEqual(
        expect.arrayContaining(['ops-panel-plan differs', ' upgrade a:noarch 1.0-1 3.0-1', 'ops-panel-plan end']),
      )
      expect(lines).not.toContain(AGREES)
      expect(await host.file('installed')).toBe(installed)
      expect(await host.file('rpm-calls')).toBe('')
    },
  )

  test('fails as not begun where a download fails', async () => {
    const host = await zypperWith()
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    await host.answer(
      'update',
      `${summaryOf(['a', '2.0-1'])}<message type="error">Download (curl) error</message>\n</stream>\n`,
      8,
    )

    const { status, lines } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

    expect(status).toBe(75)
    expect(lines).toContain('Error: Download (curl) error')
  })

  test.each([
    [102, 0],
    [103, 0],
    [106, 0],
    [107, 107],
    [8, 8],
  ])('ends for the exit code %d of zypper with %d', async (code, expected) => {
    const host = await zypperWith()
    const { status } = await runOf(host, 'all keep these a', () => host.write('code.update', String(code)))
    expect(status).toBe(expected)
  })

  test('is told where rpm was changed without the comparison', async () => {
    const host = await zypperWith()
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    await host.write('meanwhile.update', `echo 'b 9-1' >>"$FOLDER/installed"; echo "no summary"; exit 0`)

    const { status, lines } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

    expect(status).toBe(70)
    expect(lines).toContain('zypper has changed packages without the comparison with the plan.')
  })

  test('is told where the packages afterwards are not those of the plan', async () => {
    const host = await zypperWith()
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    await host.write('answer.update', summaryOf(['a', '2.0-1']))
    await host.write(
      'meanwhile.update',
      `cat "$FOLDER/answer.update"; rpm --root / --dbpath /x -U -- /p/a=2.0-1; rpm --root / --dbpath /x -U -- /p/evil=6.6-6; echo '</stream>'; exit 0`,
    )

    const { status, lines } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

    expect(status).toBe(70)
    expect(lines.slice(-2)).toEqual(['The installed packages are not those of the plan:', 'not planned: + evil 6.6-6'])
  })

  test('is not begun where libzypp would change packages without rpm', async () => {
    const host = await zypperWith()
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    await host.write(
      'answer.update',
      `${summaryOf(['a', '2.0-1'])}<message type="info">Backend:  single_rpmtrans</message>\n`,
    )
    await host.write('meanwhile.update', `cat "$FOLDER/answer.update"; exec sleep 60`)

    const { status, ms } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

    expect(status).toBe(75)
    expect(ms).toBeLessThan(30_000)
  })

  test('is not begun where another process keeps the lock', async () => {
    const host = await zypperWith()
    const { lines: planLines } = await host.ask('zypper_changes all keep these a')
    const locked = `<stream>\n<message type="error">System management is locked by the application with pid 7 (yast).</message>\n</stream>\n`
    await host.answer('list-updates', locked, 7)

    const { status, lines } = await host.ask(
      `date() { if [ -e "$FOLDER/late" ]; then echo 9999999; else echo 1; fi; }; sleep() { : >"$FOLDER/late"; }; hash=${hashOf(planLines)}; zypper_run all keep these a`,
    )

    expect(status).toBe(75)
    expect(lines).toEqual(['System management is locked by the application with pid 7 (yast).'])
  })

  test('is not begun without root, whose environment sudo would drop', async () => {
    const host = await zypperWith()
    expect(await host.ask('hash=x sudo="sudo -n"; zypper_run all keep every')).toMatchObject({
      status: 75,
      lines: ['A plan of zypper can only be run as root.'],
    })
    expect(await host.file('calls')).toBe('')
  })
})

test('a run in which zypper shows no transaction is not begun, although rpm is asked and zypper ends with 0', async () => {
  const host = await zypperWith({ sleep: 'exit 0' })
  const { lines: planLines } = await host.ask('zypper_changes all keep these a')
  await host.write('meanwhile.update', 'rpm --root / --dbpath /x -U -- /p/a=2.0-1; exit 0')
  const installed = await host.file('installed')

  const { status } = await host.ask(`hash=${hashOf(planLines)}; zypper_run all keep these a`)

  expect(status).toBe(75)
  expect(await host.file('installed')).toBe(installed)
})

describe('an upgrade without a plan', () => {
  test('is whole, and prints what it does', async () => {
    const host = await zypperWith({ offers: OFFERS.slice(0, 2) })

    const { status, lines } = await host.ask('zypper_upgrade')

    expect(status).toBe(0)
    expect(lines).toEqual([
      'upgrade a.noarch 1.0-1 -> 2.0-1',
      'upgrade b.noarch 1.0-1 -> 2.0-1',
      'remove old.noarch 1.0-1 -> -',
      'Installing: a-2.0-1.noarch',
      'Installing: b-2.0-1.noarch',
      'Removing: old',
    ])
    expect(await host.file('installed')).toBe('a 2.0-1\nb 2.0-1\n')
  })

  test.each([
    [102, 0],
    [107, 107],
    [4, 4],
  ])('ends for the exit code %d of zypper with %d', async (code, expected) => {
    const host = await zypperWith()
    await host.write('code.update', String(code))
    expect((await host.ask('zypper_upgrade')).status).toBe(expected)
  })
})

const has = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

test.skipIf(!has('busybox'))('works with the awk of BusyBox', async () => {
  const host = await zypperWith({ awk: 'exec busybox awk "$@"' })
  const { status, plan } = await runOf(host, 'all keep these c')
  expect(status).toBe(0)
  expect(plan).toEqual(['install newdep:noarch - 1.0-1', 'upgrade c:noarch 1.0-1 1:2.0-1'])
})

test.skipIf(!has('gawk'))('works with the awk of GNU', async () => {
  const host = await zypperWith({ awk: 'exec gawk "$@"' })
  const { status, plan } = await runOf(host, 'all keep these c')
  expect(status).toBe(0)
  expect(plan).toEqual(['install newdep:noarch - 1.0-1', 'upgrade c:noarch 1.0-1 1:2.0-1'])
})
